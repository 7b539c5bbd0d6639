// Sorts a table by the column whose head is clicked: numbers first, then words; what has no figure stays last.
"use strict";
(() => {
  const valueOf = (row, column) => {
    const text = row.cells[column] ? row.cells[column].innerText.trim() : "";
    const number = parseFloat(text.replace(/,/g, "").replace(/^[x≥]/, ""));
    return { text, number, empty: text === "" || text === "–" || text === "-" };
  };
  const compare = (a, b, direction) => {
    if (a.empty || b.empty) return a.empty - b.empty;
    const numbers = Number.isFinite(a.number) && Number.isFinite(b.number);
    return direction * (numbers ? a.number - b.number : a.text.localeCompare(b.text));
  };
  const sort = (table, heads, column) => {
    const direction = heads[column].getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, value: valueOf(row, column) }));
    rows.sort((a, b) => compare(a.value, b.value, direction));
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    table.tBodies[0].append(...rows.map((one) => one.row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, column) => {
      if (head.innerText.trim() === "" && column > 0) return;
      head.tabIndex = 0;
      head.classList.add("sorts");
      head.addEventListener("click", () => sort(table, heads, column));
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(table, heads, column); });
    });
  }
  document.documentElement.dataset.ready = "yes";
})();
