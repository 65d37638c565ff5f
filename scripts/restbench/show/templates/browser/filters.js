// The bar of filters: built once, so that what is open and where the keyboard is stay; `update` shows the selection.
const bars = new Map();
const named = (level) => level || "usual";

function levels(filter) {
  const all = filter.ofRun ? DATA.runs.map(filter.ofRun) : ENTRIES.map(filter.ofCell);
  return [...new Set(all)].sort((a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b, "en", { numeric: true }) : a - b));
}

function buildFilters(place) {
  for (const [name, filter] of Object.entries(FILTERS)) {
    const summary = element("summary");
    const boxes = levels(filter).map((level) => element("input", { type: "checkbox", value: level, onchange: () => go({ [name]: boxes.filter((box) => box.checked).map((box) => box.value) }) }));
    const choices = element("div", { class: "choices" }, boxes.map((box) => element("label", {}, box, ` ${named(box.value)}`)));
    const bar = element("details", { class: "filter", "data-name": name }, summary, choices);
    bars.set(name, { summary, boxes, label: filter.label, bar });
    place.append(bar);
  }
  place.append(element("a", { id: "clear", href: "#" }, "Clear all filters"));
  // One list at a time is open; Escape and a click elsewhere close it.
  addEventListener("click", ({ target }) => closeFilters(target.closest?.(".filter")));
  place.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Escape") return;
    target.closest(".filter")?.querySelector("summary").focus();
    closeFilters(null);
  });
}

function closeFilters(except) {
  for (const { bar } of bars.values()) if (bar !== except) bar.open = false;
}

function updateFilters(state) {
  for (const [name, { summary, boxes, label }] of bars) {
    const chosen = state.filters[name];
    const chosenText = !chosen.length ? "all" : chosen.length === 1 ? named(chosen[0]) : `${chosen.length} chosen`;
    summary.replaceChildren(`${label}: `, element("b", {}, chosenText));
    for (const box of boxes) box.checked = chosen.includes(box.value);
  }
  const clear = document.getElementById("clear");
  clear.href = address({ filters: {} });
  clear.hidden = Object.values(state.filters).every((chosen) => !chosen.length);
}
