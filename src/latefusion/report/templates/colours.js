  // How samples are coloured: a style per sample, a text per sample, and a scale.
  const GREY = "#8a8f94";
  const STEPS = 32;
  // Colours of these scales are seen on white and on black.
  function ramp(...stops) {
    return Array.from({ length: STEPS }, (_, step) => {
      const t = (step / (STEPS - 1)) * (stops.length - 1), k = Math.min(Math.floor(t), stops.length - 2);
      const mixed = stops[k].map((one, axis) => Math.round(one + (t - k) * (stops[k + 1][axis] - one)));
      return "rgb(" + mixed.join(",") + ")";
    });
  }
  const SURENESS = ramp([217, 72, 15], [150, 150, 150], [40, 130, 220]);
  const AMOUNT = ramp([59, 139, 212], [179, 95, 179], [232, 96, 44]);

  function unpack(text, Kind) {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    return new Kind(bytes.buffer);
  }

  function ramped(name, colours, share, text, ends) {
    const style = (i) => {
      const t = share(i);
      return t === t ? colours[Math.min(STEPS - 1, Math.max(0, Math.floor(t * STEPS)))] : GREY;
    };
    return { name, style, text, opaque: true, scale: { colours, ends } };
  }

  function categories(name, codes, levels, colourOf) {
    const counts = new Uint32Array(levels.length + 1);
    for (const code of codes) counts[code]++;
    const entries = levels.map((level, k) => ({ text: level, count: counts[k + 1], colour: colourOf(k) }));
    if (counts[0]) entries.push({ text: "no value", count: counts[0], colour: GREY });
    return {
      name,
      style: (i) => (codes[i] ? colourOf(codes[i] - 1) : GREY),
      text: (i) => (codes[i] ? levels[codes[i] - 1] : "\u2013"),
      scale: { entries },
    };
  }

  function ownColouring({ data }, view) {
    const colourOf = (k) => data.colors[view.paint ? view.paint[k] : k];
    return { ...categories(view.name + " alone", view.own, view.names, colourOf), text: null };
  }

  // Numbers with four digits and their unit, and dates.
  function shownNumber(value, column) {
    if (value !== value) return "\u2013";
    if (column.kind === "date") {
      const day = new Date(Math.floor(value) * 864e5);
      if (isNaN(day)) return "\u2013";
      return column.unit === "%Y" ? String(day.getUTCFullYear()) : day.toISOString().slice(0, 10);
    }
    if (column.kind === "duration") return Number((value / 86400).toPrecision(4)) + " days";
    const text = Math.abs(value) >= 1e6 ? value.toPrecision(4) : String(Number(value.toPrecision(4)));
    if (!column.unit) return text;
    return /^(\$|\u20ac|\u00a3|\u00a5|\u20b9|US\$)$/.test(column.unit) ? column.unit + text : text + " " + column.unit;
  }

  function columnColouring({ data }, column) {
    if (column.kind === "category") {
      const codes = unpack(column.values, Uint8Array);
      return categories(column.name, codes, column.levels, (k) => data.colors[column.paint[k]]);
    }
    const values = unpack(column.values, Float32Array), extent = column.high - column.low;
    const share = (i) => (extent > 0 ? (values[i] - column.low) / extent : values[i] === values[i] ? 0.5 : NaN);
    return ramped(column.name, AMOUNT, share, (i) => shownNumber(values[i], column), column.ends);
  }

  // null is the colour of the cluster, which has its own legend.
  function colouringOf(shared, choice) {
    const { confidence, novelty, views, data } = shared;
    if (choice === "cluster") return null;
    if (choice === "confidence") {
      return ramped("confidence", SURENESS, (i) => confidence[i] / 256, null, ["0 (between clusters)", "1"]);
    }
    if (choice === "novelty") return ramped("novelty", AMOUNT, (i) => novelty[i] / 200, null, ["0", "\u2265 2 (above 1: novel)"]);
    if (choice.startsWith("column-")) return columnColouring(shared, data.columns[Number(choice.slice(7))]);
    return ownColouring(shared, views[Number(choice)]);
  }

  function drawScale(box, colouring) {
    box.replaceChildren();
    if (!colouring) return;
    const put = (text, kind) => {
      const one = document.createElement("span");
      one.textContent = text;
      one.className = kind;
      box.append(one);
      return one;
    };
    put(colouring.name, "scale-name");
    const { colours, ends, entries } = colouring.scale;
    if (colours) {
      put(ends[0], "scale-end");
      put("", "ramp").style.background = "linear-gradient(to right, " + colours.join(", ") + ")";
      put(ends[1], "scale-end");
      return;
    }
    for (const entry of entries) {
      const one = put("", "scale-entry"), square = document.createElement("span");
      square.className = "square";
      square.style.background = entry.colour;
      one.append(square, entry.text + " (" + entry.count + ")");
    }
  }
