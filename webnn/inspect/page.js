"use strict";
// Sorts the tables, finds rows, and shows a viewer when it is opened. It makes no other markup: the rest of the page is there already.

const key = (cell) => ("value" in cell.dataset ? Number(cell.dataset.value.replace("inf", "Infinity")) : null);

// Empty cells come last; NaN is larger than every number.
function compare(left, right) {
  const [one, other] = [key(left), key(right)];
  if (one !== null && other !== null) {
    if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other);
    return one < other ? -1 : Number(one > other);
  }
  return left.textContent.localeCompare(right.textContent, "en", { numeric: true });
}

function sort(head) {
  const table = head.closest("table");
  const place = [...head.parentElement.children].indexOf(head);
  const now = head.getAttribute("aria-sort");
  // Numbers begin with the largest one.
  const next = now === "none" ? (head.classList.contains("number") ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
  for (const each of head.parentElement.children) each.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", next);
  const rows = [...table.tBodies[0].rows].map((row, position) => ({ row, cell: row.cells[place], position }));
  rows.sort((one, other) => {
    const empty = (one.cell.textContent === "") - (other.cell.textContent === "");
    const order = compare(one.cell, other.cell) * (next === "ascending" ? 1 : -1);
    return empty || order || one.position - other.position;
  });
  table.tBodies[0].append(...rows.map((each) => each.row));
}

document.addEventListener("click", (event) => {
  const head = event.target.closest("th[aria-sort]");
  if (head) sort(head);
});

const query = document.getElementById("query");
query.parentElement.hidden = false;
query.addEventListener("input", () => {
  const text = query.value.trim().toLowerCase();
  for (const row of document.querySelectorAll("tbody tr")) row.hidden = text !== "" && !row.textContent.toLowerCase().includes(text);
});

for (const each of document.querySelectorAll(".viewer")) {
  const show = () => {
    const place = each.querySelector(".show");
    if (each.open && !place.firstChild) webnnViewer.show(place, JSON.parse(each.querySelector("script").textContent));
  };
  each.addEventListener("toggle", show);
  show();
}
