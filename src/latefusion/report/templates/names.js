  // Names that the reader gives to clusters, and files that contain them.
  // What the maps do when names change: describe the samples that are pointed at again.
  let retell = () => {};
  const inputs = Array.from(document.querySelectorAll("input.name"));
  const nameOf = (cluster) => (inputs[cluster] ? inputs[cluster].value.trim() : "");
  const titleOf = (cluster, id) => (nameOf(cluster) ? id + " " + nameOf(cluster) : id);

  function showNames() {
    for (const place of document.querySelectorAll(".cluster-name")) {
      const name = nameOf(Number(place.dataset.cluster));
      place.textContent = name && " " + name;
    }
  }

  function save(name, type, text) {
    const link = document.createElement("a"), url = URL.createObjectURL(new Blob([text], { type }));
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  }

  function textOf(url) {
    const bytes = Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (one) => one.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  }

  // Records of a CSV file with their fields, as they are written.
  function records(text) {
    const found = [];
    let fields = [], start = 0, quoted = false;
    for (let k = 0; k < text.length; k++) {
      if (text[k] === '"') quoted = !quoted;
      else if (!quoted && (text[k] === "," || text[k] === "\n")) {
        fields.push(text.slice(start, k));
        start = k + 1;
        if (text[k] === "\n") {
          found.push(fields);
          fields = [];
        }
      }
    }
    return found;
  }

  // A spreadsheet would carry out words that begin with these signs.
  const isFormula = (word) => /^[=+\-@\t\r]/.test(word) && !Number.isFinite(Number(word));
  function cell(word) {
    const plain = isFormula(word) ? "'" + word : word;
    return /[",\r\n]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
  }

  // A table with a column of names of its clusters, if there are any.
  function withNames(text, column) {
    if (!inputs.some((_, cluster) => nameOf(cluster))) return text;
    const names = new Map(inputs.map((input, cluster) => [input.dataset.id, nameOf(cluster)]));
    const [head, ...rows] = records(text), at = head.indexOf(column);
    const lines = rows.map((row) => [...row, cell(names.get(row[at]) || "")].join(","));
    return [[...head, "name"].join(","), ...lines, ""].join("\n");
  }

  // The page as it was loaded, with the names in it, and the curves that the reader chose.
  function pageWithNames() {
    const copy = root.cloneNode(true), all = (what) => copy.querySelectorAll(what);
    delete copy.dataset.ready;
    delete copy.dataset.theme;
    all("input.name").forEach((input, cluster) => input.setAttribute("value", nameOf(cluster)));
    all(".cluster-name, #sample, #tip, #scale").forEach((one) => one.replaceChildren());
    all("#tip").forEach((one) => { one.hidden = true; one.removeAttribute("style"); });
    all(".legend .key").forEach((one) => one.setAttribute("aria-pressed", "true"));
    all(".pointed, .alone").forEach((one) => one.classList.remove("pointed", "alone"));
    all("details").forEach((one) => { one.open = false; });
    all("#theme").forEach((one) => { one.textContent = "Dark"; });
    all("canvas").forEach((one) => { one.removeAttribute("width"); one.removeAttribute("height"); });
    return "<!DOCTYPE html>\n" + copy.outerHTML;
  }

  function editNames() {
    inputs.forEach((input) => input.addEventListener("input", () => { showNames(); retell(); redraw(); }));
    showNames();
    for (const [file, column] of [["labels.csv", "label"], ["profiles.csv", "cluster"]]) {
      for (const link of document.querySelectorAll("a[download='" + file + "']")) {
        link.addEventListener("click", (event) => {
          event.preventDefault();
          save(file, "text/csv;charset=utf-8", withNames(textOf(link.href), column));
        });
      }
    }
    byId("copy").addEventListener("click", () => save("report.html", "text/html;charset=utf-8", pageWithNames()));
  }
