//! Tables, which become cards on a narrow screen.

use super::Html;

/// The heads of columns that are aligned on the right, since their values are compared digit by digit.
const NUMBERS: [&str; 3] = ["Amount", "Price", "Quantity"];

/// A table.
#[derive(Debug)]
pub(in super::super) struct Table {
    caption: &'static str,
    heads: &'static [&'static str],
    rows: Vec<Html>,
}

impl Table {
    /// Creates a table without rows.
    pub(in super::super) const fn new(caption: &'static str, heads: &'static [&'static str]) -> Self {
        Self { caption, heads, rows: Vec::new() }
    }

    /// Adds a row, whose first cell is its head. An empty cell shows a dash if there is room for it.
    pub(in super::super) fn row(mut self, cells: impl IntoIterator<Item = Html>) -> Self {
        let mut row = Html::new().raw("<tr role=\"row\">");
        for (at, (head, cell)) in self.heads.iter().zip(cells).enumerate() {
            // Repeated in each cell, for screens that do not show the head.
            let (start, end) = match at {
                0 => ("<th scope=\"row\" role=\"rowheader\"", "</th>"),
                _ => ("<td role=\"cell\"", "</td>"),
            };
            let class = match (cell.is_empty(), NUMBERS.contains(head)) {
                (true, _) => " class=\"nothing\"",
                (_, true) => " class=\"number\"",
                _ => "",
            };
            let cell = if cell.is_empty() { Html::new().raw("<span class=\"none\">–</span>") } else { cell };
            row = row.raw(start).raw(class).attribute("data-head", head).raw("><div>").put(cell).raw("</div>").raw(end);
        }
        self.rows.push(row.raw("</tr>\n"));
        self
    }

    /// Adds rows.
    pub(in super::super) fn rows<R: IntoIterator<Item = Html>>(self, rows: impl IntoIterator<Item = R>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// Returns the table, or a sentence if it has no rows.
    pub(in super::super) fn or(self, without: &'static str) -> Html {
        if self.rows.is_empty() {
            return Html::new().raw("<p class=\"empty\">").raw(without).raw("</p>\n");
        }
        let caption = Html::new().raw("<caption>").raw(self.caption).raw("</caption>\n");
        let heads = self.heads.iter().map(|head| {
            let class = if NUMBERS.contains(head) { " class=\"number\"" } else { "" };
            Html::new().raw("<th scope=\"col\" role=\"columnheader\"").raw(class).raw(">").raw(head).raw("</th>")
        });
        Html::new()
            .raw("<table role=\"table\">\n")
            .put(caption)
            .raw("<thead role=\"rowgroup\"><tr role=\"row\">")
            .all(heads)
            .raw("</tr></thead>\n<tbody role=\"rowgroup\">\n")
            .all(self.rows)
            .raw("</tbody>\n</table>\n")
    }
}
