// The views, and the one place where a selection becomes what is seen.
const VIEWS = {
  runs: { name: "Runs", show: showRuns },
  cells: { name: "Cells", show: showCells },
  trend: { name: "Trend", show: showTrend },
  compare: { name: "Two runs", show: showCompare },
};

function show() {
  const state = read();
  document.getElementById("views").replaceChildren(...Object.entries(VIEWS).map(([view, { name }]) =>
    element("li", {}, element("a", { href: address({ view }), "aria-current": view === state.view ? "page" : null }, name))));
  updateFilters(state);
  const [heading, status, ...parts] = VIEWS[state.view].show(state);
  document.getElementById("status").textContent = status;
  keepFocus(document.getElementById("view"), [element("h2", { id: "view-heading", tabindex: -1 }, heading), ...parts.flat().filter(Boolean)]);
  document.title = `${heading} · restbench`;
}

// Puts `parts` into a place; the keyboard stays on the element that is called the same.
function keepFocus(place, parts) {
  const called = (one) => one.name || one.getAttribute("aria-label") || one.textContent;
  const before = place.contains(document.activeElement) ? document.activeElement : null;
  place.replaceChildren(...parts);
  if (before) [...place.querySelectorAll(before.tagName)].find((one) => called(one) === called(before))?.focus();
}

buildFilters(document.getElementById("filters"));
const leftOut = document.getElementById("left-out");
leftOut.hidden = !DATA.left_out.length;
leftOut.querySelector("ul").append(...DATA.left_out.map((line) => element("li", {}, line)));
// The address is the selection: no link may change it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("view-heading").focus();
});
addEventListener("hashchange", show);
show();
