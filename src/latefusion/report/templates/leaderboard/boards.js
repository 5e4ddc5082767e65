  // The table of a board for the chosen score, data sets and families. Ranks are those among all methods of the board.
  const minus = (text) => text.replace("-", "\u2212");

  // Digits as Python writes them: the few numbers in the middle between two become even. They are exact in binary.
  function fixed(value, digits) {
    const text = value.toFixed(digits), isMiddle = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
    return minus(isMiddle && Number(text.at(-1)) % 2 ? (value - Math.sign(value) * 0.5 * 10 ** -digits).toFixed(digits) : text);
  }

  const score = (value) => (value === null ? "\u2013" : fixed(value, 3));
  const amount = (value) => (value === null ? "\u2013" : fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0));
  const known = (values, columns) => columns.map((column) => values[column]).filter((one) => one !== null);
  const mean = (values) => (values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null);

  function median(values) {
    const sorted = Float64Array.from(values).sort(), half = sorted.length >> 1;
    if (!sorted.length) return null;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  // On how many data sets one method is better than another, equal and worse.
  function against(own, others, columns) {
    const signs = columns.map((column) => Math.sign(others[column] - own[column]));
    return [1, 0, -1].map((wanted) => signs.filter((one) => one === wanted).length);
  }

  function startBoard(section) {
    const board = data[section.dataset.board], tools = section.querySelector(".tools");
    const tool = (name) => tools.querySelector("[data-tool=" + name + "]");
    const ranking = section.querySelector(".ranking"), grid = section.querySelector(".matrix");
    const status = section.querySelector(".chosen-sets");
    const heads = Object.fromEntries(
      Array.from(ranking.tHead.rows[0].cells, (one, column) => [one.dataset.key, column]),
    );
    const everySet = board.sizes.map((_, column) => column);
    const rowsOf = (table) => Array.from(table.tBodies[0].rows);
    const columns = () =>
      everySet.filter((column) =>
        (!tool("kind").value || tool("kind").value === board.kinds[column]) &&
        (!tool("size").value || Number(tool("size").value) === board.sizes[column]));

    function fill(row, chosen, means, ours) {
      const own = Number(row.dataset.method), metric = tool("metric").value, results = known(board.scores[metric][own], chosen);
      const write = (key, text) => {
        const cell = row.cells[heads[key]];
        cell.textContent = text;
        if (["acc", "nmi", "ari", "seconds", "peak"].includes(key)) {
          cell.classList.toggle("partial", results.length < chosen.length);
        }
      };
      const ranks = board.ranks[metric], rank = row.cells[heads.rank], n = ranks.length;
      write("place", 1 + means.filter((one) => one < means[own]).length);
      rank.firstChild.data = fixed(means[own], 2) + " ";
      rank.querySelector(".fill").style.width = fixed(n > 1 ? (100 * (n - means[own])) / (n - 1) : 100, 1) + "%";
      for (const name of Object.keys(board.scores)) write(name, score(mean(known(board.scores[name][own], chosen))));
      write("against", own === ours || ours < 0 ? "\u2013" : against(ranks[own], ranks[ours], chosen).join(" / "));
      write("seconds", amount(median(known(board.seconds[own], chosen))));
      write("peak", amount(median(known(board.peak[own], chosen))));
      write("oracle", score(mean(known(board.oracle[metric][own], chosen))));
      row.cells[heads.results].firstChild.data = results.length;
      row.cells[heads.results].lastChild.textContent = " of " + chosen.length;
    }

    function fillGrid(means) {
      const metric = tool("metric").value, n = board.ranks[metric].length;
      section.querySelector(".metric-name").textContent = nameOf(metric);
      const rows = rowsOf(grid).sort((one, other) => means[one.dataset.method] - means[other.dataset.method] || byName(one, other));
      for (const row of rows) {
        board.scores[metric][row.dataset.method].forEach((value, column) => {
          if (value === null) return;
          const cell = row.cells[column + 1], rank = board.ranks[metric][row.dataset.method][column];
          cell.textContent = fixed(100 * value, 0);
          cell.style.setProperty("--share", fixed(n > 1 ? (n - rank) / (n - 1) : 1, 2));
        });
      }
      grid.tBodies[0].append(...rows);
    }

    const nameOf = (metric) => tool("metric").querySelector("[value=" + metric + "]").textContent;
    const averages = (chosen) => board.ranks[tool("metric").value].map((ranks) => mean(known(ranks, chosen)));

    function choose() {
      const metric = tool("metric").value, chosen = columns();
      for (const one of section.querySelectorAll("[data-metric]")) one.hidden = one.dataset.metric !== metric;
      const oracle = ranking.tHead.querySelector("[data-key=oracle] abbr");
      oracle.textContent = "oracle " + nameOf(metric);
      ranking.closest(".scroll").hidden = !chosen.length;
      status.textContent = chosen.length === board.sizes.length ? ""
        : !chosen.length ? "No data set of this board is of this kind and size."
        : "Ranking on " + chosen.length + " of " + board.sizes.length + " data sets. The tests and figures use all of them.";
      fillGrid(averages(everySet));
      if (!chosen.length) return;
      const means = averages(chosen), best = Math.min(...means.filter((_, row) => board.families[row] === 0));
      const ours = means.findIndex((one, row) => one === best && board.families[row] === 0);
      for (const row of rowsOf(ranking)) fill(row, chosen, means, ours);
      sortAgain(ranking);
    }

    function hideMethods() {
      const wanted = tool("name").value.trim().toLowerCase();
      const pressed = new Set(Array.from(tools.querySelectorAll(".key[aria-pressed=true]"), (one) => Number(one.dataset.family)));
      for (const row of [...rowsOf(ranking), ...rowsOf(grid)]) {
        row.hidden = !pressed.has(board.families[row.dataset.method]) || !row.querySelector("th").textContent.toLowerCase().includes(wanted);
      }
    }

    for (const name of ["metric", "kind", "size"]) tool(name).addEventListener("change", choose);
    tool("name").addEventListener("input", hideMethods);
    for (const key of tools.querySelectorAll(".key")) {
      key.addEventListener("click", () => {
        key.setAttribute("aria-pressed", String(key.getAttribute("aria-pressed") !== "true"));
        hideMethods();
      });
    }
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.hidden = false;
    choose();
  }
