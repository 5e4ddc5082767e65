  // Tables that the reader sorts: a button in every head. What has no value stays last in both directions.
  const OTHER_WAY = { ascending: "descending", descending: "ascending" };

  function valueOf(cell) {
    const text = cell.textContent.trim();
    return text === "\u2013" ? NaN : parseFloat(text.replace("\u2212", "-").replaceAll("\u202f", ""));
  }

  // Rows with equal values are in the order of their names.
  const nameOfRow = (row) => row.querySelector("th").textContent.trim();
  const byName = (one, other) => (nameOfRow(one) < nameOfRow(other) ? -1 : 1);

  function compare(column, direction, isText) {
    const sign = direction === "ascending" ? 1 : -1;
    return (one, other) => {
      const a = one.cells[column], b = other.cells[column];
      if (isText) return sign * a.textContent.trim().localeCompare(b.textContent.trim(), "en", { numeric: true });
      const x = valueOf(a), y = valueOf(b);
      return Number.isNaN(x) - Number.isNaN(y) || sign * (x - y) || byName(one, other);
    };
  }

  // Sort the rows by the column that is marked as sorted.
  function sortAgain(table) {
    const head = table.querySelector("th[aria-sort]"), body = table.tBodies[0];
    if (!head) return;
    const rows = Array.from(body.rows);
    rows.sort(compare(head.cellIndex, head.getAttribute("aria-sort"), head.dataset.first === "text"));
    body.append(...rows);
  }

  function makeSortable(table) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const first = head.dataset.first ? "ascending" : "descending";
        const next = OTHER_WAY[head.getAttribute("aria-sort")] || first;
        for (const one of table.querySelectorAll("th[aria-sort]")) one.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", next);
        sortAgain(table);
      });
    }
  }
