// What is wrong with a page for the people who have to use it; a list of sentences, best empty.
const problems = [];
const root = document.documentElement;
// Not `innerWidth`: a phone zooms out until everything is on its screen, and then tells the width of that.
if (root.scrollWidth > root.clientWidth) problems.push(`it is ${root.scrollWidth} wide on a screen of ${root.clientWidth}`);
if (!root.lang) problems.push("it does not say its language");
if (!document.title.trim()) problems.push("it has no title");
if (document.querySelectorAll("h1").length !== 1) problems.push("it has not one heading");
if (document.querySelectorAll("main").length !== 1) problems.push("it does not say where its content is");

const shown = element => element.getClientRects().length > 0;
const called = element => `${element.localName} "${(element.name || element.innerText || "").slice(0, 40)}"`;
for (const input of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
  if (!input.labels.length) problems.push(`${called(input)} has no label`);
}
// WCAG 2.2, 2.5.8, asks for 24; what a page is about is better met with a thumb.
for (const target of document.querySelectorAll("main button, main .button, main input:not([type=hidden]), main select")) {
  const { height } = target.getBoundingClientRect();
  const least = ["checkbox", "radio"].includes(target.type) ? 13 : arguments[0];
  if (shown(target) && height < least) problems.push(`${called(target)} is ${height} high`);
}

// Contrast, WCAG 2.2, 1.4.3.
const parts = colour => {
  const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
  return [red, green, blue, alpha];
};
const light = ([red, green, blue]) => {
  const linear = [red, green, blue].map(part => part / 255).map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const ground = element => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parts(getComputedStyle(at).backgroundColor);
    if (colour[3] === 1) return colour;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
};
for (const element of document.querySelectorAll("main *, header *, nav *, footer *")) {
  const own = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
  if (!own || !shown(element)) continue;
  const style = getComputedStyle(element);
  const [high, low] = [light(parts(style.color)), light(ground(element))].sort((one, other) => other - one);
  const contrast = (high + 0.05) / (low + 0.05);
  if (contrast < 4.5) problems.push(`${called(element)} has a contrast of ${contrast.toFixed(2)}`);
}
return problems;
