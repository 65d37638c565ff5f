// Sorts a table by the column whose heading is pressed: numbers as numbers, the empty last.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const key = (row, n) => row.cells[n].dataset.value ?? row.cells[n].textContent.trim();
  const compare = (a, b) => a === "" || b === "" ? (a === "") - (b === "")
    : isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const heading = button.parentElement;
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((one, two) => {
        const [a, b] = [key(one, heading.cellIndex), key(two, heading.cellIndex)];
        return down && a !== "" && b !== "" ? compare(b, a) : compare(a, b);
      });
      body.append(...rows);
    });
  }
}
