//! Tables for people: columns as wide as their longest cell.

use crate::output::{self, Paint};

/// Rows under a header, without trailing spaces. Invisible characters in cells are escaped.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let paint = Paint::of_stdout();
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.clone().map(|cell| output::harmless(&cell).into_owned())).collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default().max(header[column].chars().count())
    });
    let line = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let body = rows.iter().map(|row| line(&row.each_ref().map(String::as_str)));
    std::iter::once(paint.bold(&line(&header))).chain(body).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_harmless() {
        let rows = [["a".to_owned(), "1".to_owned()], ["long\u{1b}".to_owned(), String::new()]];
        assert_eq!(table(["NAME", "N"], &rows), "NAME        N\na           1\nlong\\u{1b}");
    }
}
