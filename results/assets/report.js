"use strict";
// Opens whatever folds the target of the address away.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  target.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", reveal);
reveal();

// A chart's definition. Its records come as a row of heads and rows of values. A head is a name, or [name, texts] where the values
// are places in the texts. {} is a field that a record lacks.
function definition(chart) {
  const found = JSON.parse(chart.querySelector("script").textContent);
  const isLacking = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  for (const [name, [heads, ...rows]] of Object.entries(found.datasets)) {
    found.datasets[name] = rows.map((row) => Object.fromEntries(row.flatMap((value, n) => {
      const [field, texts] = Array.isArray(heads[n]) ? heads[n] : [heads[n]];
      return isLacking(value) ? [] : [[field, texts ? texts[value] : value]];
    })));
  }
  return found;
}

// A chart is drawn when it comes near the window, or for printing: what is folded away costs nothing until it is opened.
const waiting = new Set(document.querySelectorAll("figure.chart"));
function draw(chart) {
  if (!waiting.delete(chart)) return;
  near.unobserve(chart);
  window.drawChart(chart.querySelector(".drawn"), definition(chart));
}
const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) if (isIntersecting) draw(target);
}, { rootMargin: "600px" });
for (const chart of waiting) near.observe(chart);
addEventListener("beforeprint", () => waiting.forEach(draw));

// A heading sorts its table: by number where the fields have one, the empty ones last. In a table of numbers (class n) the texts have class t.
function sort(heading) {
  const table = heading.closest("table");
  const descends = heading.getAttribute("aria-sort") === "ascending";
  const isNumber = heading.matches(".n, .n th:not(.t)");
  const value = (row) => {
    const text = row.cells[heading.cellIndex].textContent.trim();
    const number = parseFloat(text.replace(/^[^\d+\-.]+/, "").replaceAll(",", ""));
    return isNumber && !Number.isNaN(number) ? number : text;
  };
  const order = (one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === "" || b === "") return (a === "") - (b === "");
    const found = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return descends ? -found : found;
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  for (const each of heading.parentElement.cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descends ? "descending" : "ascending");
}
for (const place of document.querySelectorAll(".scroll")) {
  place.tabIndex = 0;
  place.role = "region";
  place.ariaLabel = place.querySelector("caption").textContent;
}
for (const heading of document.querySelectorAll("thead th")) {
  const button = Object.assign(document.createElement("button"), { type: "button", title: heading.title });
  button.append(...heading.childNodes);
  button.addEventListener("click", () => sort(heading));
  heading.removeAttribute("title");
  heading.scope = "col";
  heading.append(button);
}
