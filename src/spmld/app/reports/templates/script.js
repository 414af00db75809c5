"use strict";
// Sort key of a cell: its number, or else its text.
const key = (row, place) => row.cells[place].dataset.v ?? row.cells[place].textContent;
const empty = (row, place) => row.cells[place].dataset.v === undefined && row.cells[place].textContent === "-";

function sort(table, place, down) {
  const order = new Intl.Collator(undefined, { numeric: true });
  const numbers = table.tHead.rows[0].cells[place].classList.contains("n");
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const undefinedLast = empty(a, place) - empty(b, place); // in both directions
    if (undefinedLast) return undefinedLast;
    const [x, y] = [key(a, place), key(b, place)];
    return (down ? -1 : 1) * (numbers ? x - y : order.compare(x, y));
  });
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    sort(table, place, down);
  }));
}

for (const search of document.querySelectorAll(".search")) {
  const input = search.querySelector("input");
  const rows = [...document.getElementById(input.getAttribute("aria-controls")).tBodies[0].rows];
  search.hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    const shown = rows.filter((row) => !row.hidden).length;
    search.querySelector("output").textContent = wanted ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  });
}
