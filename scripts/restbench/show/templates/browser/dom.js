// Elements, numbers and tables as every view writes them.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Three significant digits at least, as the tables of the page have them.
function readable(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return value.toFixed(2 - Math.floor(Math.log10(size)));
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

const percent = (ratio) => `${ratio >= 1 ? "+" : "−"}${Math.abs(100 * (ratio - 1)).toFixed(1)} %`;
const interval = (low, high) => (low === null || low === undefined ? "" : `[${readable(low)}, ${readable(high)}]`);
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const day = (run) => run.started.slice(0, 16).replace("T", " ");
const commitOf = (code) => code.commit + (code.dirty ? " with changes" : "");
// What the service of a cell was built from: of two builds its own commit, else the run's.
const codeOf = (run, { build }) => run.builds[build] ?? run;

// A number with its interval beneath.
function estimate(value) {
  if (!value) return element("td", { class: "n" });
  return element("td", { class: "n" }, readable(value[0]), element("span", { class: "ends" }, interval(value[1], value[2])));
}

// A table that scrolls sideways where it is wider than the page, also by keyboard.
// `columns`: [{ heading, cell: (row) => td or text, number, sort: name that `sorted` is asked with }].
function table(caption, columns, rows, { order = "", label = caption } = {}) {
  const heading = (column) => {
    const attributes = { scope: "col", class: column.number ? "n" : null };
    if (!column.sort) return element("th", attributes, column.heading);
    const direction = order === column.sort ? "ascending" : order === `-${column.sort}` ? "descending" : null;
    const next = direction === "ascending" ? `-${column.sort}` : column.sort;
    return element("th", { ...attributes, "aria-sort": direction }, element("button", { type: "button", onclick: () => go({ sort: next }) }, column.heading));
  };
  const cell = (column, row) => {
    const made = column.cell(row);
    return made instanceof HTMLTableCellElement ? made : element("td", { class: column.number ? "n" : column.prose ? "prose" : null }, made);
  };
  const head = element("thead", {}, element("tr", {}, columns.map(heading)));
  const body = element("tbody", {}, rows.map((row) => element("tr", {}, columns.map((column) => cell(column, row)))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element("table", {}, element("caption", {}, caption), head, body));
}

// A choice among [value, text], which writes itself into the address.
function chooser(label, key, choices, chosen) {
  const options = choices.map(([value, text]) => element("option", { value, selected: value === chosen }, text));
  return element("label", { class: "chooser" }, `${label} `, element("select", { name: key, onchange: ({ target }) => go({ [key]: target.value }) }, options));
}
