  function drawMaps() {
    const n = data.n;
    const labels = unpack(data.labels, Uint16Array);
    const confidence = data.confidence && unpack(data.confidence, Uint8Array);
    const novelty = data.novelty && unpack(data.novelty, Uint16Array);
    const rows = data.rows && unpack(data.rows, Uint32Array);
    const small = data.small && unpack(data.small, Uint32Array);
    const views = data.views.map((view) => ({
      name: view.name,
      names: view.names,
      paint: view.paint,
      own: view.own && unpack(view.own, view.wide ? Uint16Array : Uint8Array),
      positions: unpack(view.positions, Uint16Array),
      seen: view.seen && unpack(view.seen, Uint8Array),
    }));
    const idOf = (i) => (data.ids ? data.ids[i] : String(rows ? rows[i] : i));
    const hidden = new Uint8Array(data.clusters.length);
    let hovered = -1;
    let pinned = -1;
    let colouring = null;
    const viewColour = byId("view-colour");
    const viewsByOwn = () => viewColour !== null && viewColour.value === "own";

    const shared = { data, labels, confidence, novelty, views };
    const clusterStyle = (i) => data.colors[labels[i]];
    const mainStyle = () => (colouring ? colouring.style : clusterStyle);
    const viewStyle = (view) => (viewsByOwn() && view.own ? ownColouring(shared, view).style : mainStyle());

    function mark(context, shape, x, y, r) {
      if (r < 2) { context.fillRect(x - r, y - r, 2 * r, 2 * r); return; }
      context.beginPath();
      if (shape === "circle") context.arc(x, y, r, 0, 6.2832);
      else if (shape === "square") context.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
      else if (shape === "triangle") {
        context.moveTo(x, y - 1.2 * r); context.lineTo(x + 1.1 * r, y + 0.8 * r); context.lineTo(x - 1.1 * r, y + 0.8 * r);
      } else {
        context.moveTo(x, y - 1.25 * r); context.lineTo(x + 1.25 * r, y); context.lineTo(x, y + 1.25 * r); context.lineTo(x - 1.25 * r, y);
      }
      context.fill();
    }

    const LONGEST = 24;
    const shortened = (text) => (text.length > LONGEST ? text.slice(0, LONGEST - 1) + "\u2026" : text);

    class PointMap {
      // members: numbers of the samples that the map shows; null for all.
      constructor(canvas, positions, members, seen, style, named) {
        Object.assign(this, { canvas, positions, members, seen, style, named });
        this.overlay = canvas.nextElementSibling;
        this.count = positions.length / 2;
        this.place = new Map();
        if (members) members.forEach((sample, k) => this.place.set(sample, k));
        canvas.addEventListener("pointermove", (event) => this.point(event));
        canvas.addEventListener("pointerleave", () => hover(-1));
        canvas.addEventListener("click", (event) => { this.point(event); pin(hovered); });
        new ResizeObserver(() => this.fit()).observe(canvas);
        this.fit();
      }
      sample(k) { return this.members ? this.members[k] : k; }
      x(k) { return this.pad + (this.positions[2 * k] / 65535) * (this.width - 2 * this.pad); }
      y(k) { return this.height - this.pad - (this.positions[2 * k + 1] / 65535) * (this.height - 2 * this.pad); }
      isShown(k) { return !hidden[labels[this.sample(k)]] && !(this.seen && !this.seen[k]); }
      fit() {
        const width = this.canvas.clientWidth, height = this.canvas.clientHeight, ratio = window.devicePixelRatio || 1;
        if (!width || !height) return;
        if (width === this.width && height === this.height && ratio === this.ratio) return;
        Object.assign(this, { width, height, ratio, cells: null });
        this.pad = Math.min(16, width / 16);
        for (const one of [this.canvas, this.overlay]) {
          one.width = Math.round(width * ratio);
          one.height = Math.round(height * ratio);
        }
        this.draw();
      }
      radius() {
        const room = Math.sqrt((this.width * this.height) / Math.max(this.count, 1)) / 7;
        return Math.max(this.named ? 0.9 : 1.2, Math.min(4.5, room));
      }
      draw() {
        if (!this.width) return;
        const context = this.canvas.getContext("2d");
        context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        const style = this.style(), r = this.radius();
        for (let k = 0; k < this.count; k++) {
          if (!this.isShown(k)) continue;
          const i = this.sample(k);
          context.globalAlpha = confidence && !(colouring && colouring.opaque) ? 0.4 + (0.55 * confidence[i]) / 255 : 0.85;
          context.fillStyle = style(i);
          mark(context, data.shapes[labels[i]], this.x(k), this.y(k), r);
        }
        context.globalAlpha = 1;
        if (this.named) this.drawNames(context);
        this.highlight();
      }
      // The number of every cluster where most of its samples are: colours alone do not tell twenty clusters apart.
      drawNames(context) {
        if (!this.centers) {
          const groups = data.clusters.map(() => []);
          for (let k = 0; k < this.count; k++) groups[labels[k]].push(k);
          // Not the mean of all: of a cluster in two pieces, that lies between them.
          const size = 2048, cellOf = (k) => (this.positions[2 * k] >> 11) + 33 * (this.positions[2 * k + 1] >> 11);
          this.centers = groups.map((group) => {
            if (!group.length) return -1;
            // Squares of two by two cells, so that no group of samples is cut in four by chance.
            const crowd = new Uint32Array(33 * 33);
            for (const k of group) for (const step of [34, 33, 1, 0]) crowd[cellOf(k) + step]++;
            const fullest = crowd.indexOf(Math.max(...crowd)), left = fullest % 33, down = Math.floor(fullest / 33);
            const near = group.filter((k) =>
              Math.hypot(this.positions[2 * k] / size - left, this.positions[2 * k + 1] / size - down) < 1.45);
            const mean = (axis) => near.reduce((sum, k) => sum + this.positions[2 * k + axis], 0) / near.length;
            const x = mean(0), y = mean(1);
            let best = near[0], least = Infinity;
            for (const k of near) {
              const away = (this.positions[2 * k] - x) ** 2 + (this.positions[2 * k + 1] - y) ** 2;
              if (away < least) { least = away; best = k; }
            }
            return best;
          });
          this.reaches = groups.map((group, cluster) => {
            const k = this.centers[cluster];
            const away = (axis) => Math.max(...group.map((i) =>
              Math.abs(this.positions[2 * i + axis] - this.positions[2 * k + axis])));
            return group.length && group.length < 5000 ? [away(0), away(1)] : [65535, 65535];
          });
        }
        const colours = getComputedStyle(root);
        context.font = "650 " + (data.clusters.length > 30 ? 11 : 13) + "px system-ui, sans-serif";
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.lineWidth = 4;
        context.lineJoin = "round";
        context.strokeStyle = colours.getPropertyValue("--halo").trim();
        context.fillStyle = colours.getPropertyValue("--ink").trim();
        this.centers.forEach((k, cluster) => {
          if (k < 0 || hidden[cluster]) return;
          // Samples so close together that the number would cover all of them get it above.
          const [wide, high] = this.reaches[cluster];
          const covered = (wide / 65535) * this.width < 12 && (high / 65535) * this.height < 8;
          const y = covered ? Math.max(8, this.y(k) - (high / 65535) * this.height - 12) : this.y(k);
          const text = shortened(titleOf(cluster, data.clusters[cluster])), half = context.measureText(text).width / 2;
          const x = Math.min(Math.max(this.x(k), half + 4), Math.max(half + 4, this.width - half - 4));
          context.strokeText(text, x, y);
          context.fillText(text, x, y);
        });
      }
      highlight() {
        const context = this.overlay.getContext("2d");
        context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        const colours = getComputedStyle(root);
        for (const i of pinned === hovered ? [hovered] : [pinned, hovered]) {
          if (i < 0) continue;
          const k = this.members ? this.place.get(i) : i;
          if (k === undefined || !this.isShown(k)) continue;
          context.beginPath();
          context.arc(this.x(k), this.y(k), 8, 0, 6.2832);
          context.lineWidth = 5;
          context.strokeStyle = colours.getPropertyValue("--halo").trim();
          context.stroke();
          context.lineWidth = 2;
          context.strokeStyle = colours.getPropertyValue("--ink").trim();
          context.stroke();
        }
      }
      // Dots by squares of the canvas, made when somebody first points at it.
      index() {
        const size = 16, across = Math.ceil(this.width / size) + 1, down = Math.ceil(this.height / size) + 1;
        const starts = new Uint32Array(across * down + 1), cellOf = new Uint32Array(this.count);
        for (let k = 0; k < this.count; k++) {
          cellOf[k] = Math.floor(this.y(k) / size) * across + Math.floor(this.x(k) / size);
          starts[cellOf[k] + 1]++;
        }
        for (let c = 0; c < across * down; c++) starts[c + 1] += starts[c];
        const order = new Uint32Array(this.count), next = starts.slice();
        for (let k = 0; k < this.count; k++) order[next[cellOf[k]]++] = k;
        this.cells = { size, across, down, starts, order };
      }
      nearest(x, y) {
        if (!this.cells) this.index();
        const { size, across, down, starts, order } = this.cells;
        const column = Math.floor(x / size), line = Math.floor(y / size);
        let best = -1, least = 14 * 14;
        for (let a = Math.max(0, line - 1); a <= Math.min(down - 1, line + 1); a++) {
          for (let b = Math.max(0, column - 1); b <= Math.min(across - 1, column + 1); b++) {
            for (let p = starts[a * across + b]; p < starts[a * across + b + 1]; p++) {
              const k = order[p], away = (this.x(k) - x) ** 2 + (this.y(k) - y) ** 2;
              if (away < least && this.isShown(k)) { least = away; best = k; }
            }
          }
        }
        return best;
      }
      point(event) {
        const box = this.canvas.getBoundingClientRect();
        const k = this.nearest(event.clientX - box.left, event.clientY - box.top);
        hover(k < 0 ? -1 : this.sample(k), event.clientX, event.clientY);
      }
    }

    const tip = byId("tip"), panel = byId("sample");
    const MOST_VIEWS = 12;
    function describe(i, box) {
      const name = document.createElement("p"), list = document.createElement("dl");
      name.className = "sample-name";
      name.textContent = data.ids ? idOf(i) : "sample " + idOf(i);
      list.className = "facts-of";
      const line = (what, value) => {
        const term = document.createElement("dt"), text = document.createElement("dd");
        term.textContent = what;
        text.textContent = value;
        list.append(term, text);
      };
      line("cluster", titleOf(labels[i], data.clusters[labels[i]]));
      if (colouring && colouring.text) line(colouring.name, colouring.text(i));
      if (confidence) line("confidence", (confidence[i] / 255).toFixed(2));
      if (novelty) line("novelty", (novelty[i] / 100).toFixed(2) + (novelty[i] > 100 ? " (novel)" : ""));
      const telling = views.filter((view) => view.own);
      for (const view of telling.slice(0, MOST_VIEWS)) {
        line(view.name + " alone", view.own[i] === 0 ? "–" : view.names[view.own[i] - 1]);
      }
      if (telling.length > MOST_VIEWS) line("…", telling.length - MOST_VIEWS + " more views");
      box.replaceChildren(name, list);
    }
    function hover(i, x, y) {
      const changed = i !== hovered;
      hovered = i;
      tip.hidden = i < 0;
      if (i >= 0) {
        if (changed) describe(i, tip);
        const box = tip.getBoundingClientRect(), room = 14;
        const left = x + room + box.width > root.clientWidth ? x - room - box.width : x + room;
        const top = y + room + box.height > root.clientHeight ? y - room - box.height : y + room;
        tip.style.transform = "translate(" + Math.max(4, left) + "px," + Math.max(4, top) + "px)";
      }
      if (changed) maps.forEach((map) => map.highlight());
    }
    function pin(i) {
      pinned = i;
      if (i < 0) panel.replaceChildren();
      else describe(i, panel);
      maps.forEach((map) => map.highlight());
    }

    const maps = [new PointMap(byId("map"), unpack(data.positions, Uint16Array), null, null, mainStyle, true)];
    views.forEach((view, place) => {
      const canvas = byId("view-" + place);
      if (canvas) maps.push(new PointMap(canvas, view.positions, small, view.seen, () => viewStyle(view), false));
    });
    redraw = () => maps.forEach((map) => map.draw());
    retell = () => {
      if (hovered >= 0) describe(hovered, tip);
      if (pinned >= 0) describe(pinned, panel);
    };

    const keys = Array.from(document.querySelectorAll(".legend .key"));
    function show(cluster, shown) {
      hidden[cluster] = shown ? 0 : 1;
      keys[cluster].setAttribute("aria-pressed", String(shown));
    }
    keys.forEach((key, cluster) => key.addEventListener("click", () => { show(cluster, hidden[cluster] === 1); redraw(); }));
    byId("all").addEventListener("click", () => { keys.forEach((_, cluster) => show(cluster, true)); redraw(); });
    byId("none").addEventListener("click", () => { keys.forEach((_, cluster) => show(cluster, false)); redraw(); });
    const colour = byId("colour");
    function recolour() {
      colouring = colouringOf(shared, colour.value);
      drawScale(byId("scale"), colouring);
      retell();
      redraw();
    }
    colour.addEventListener("change", recolour);
    if (viewColour) viewColour.addEventListener("change", () => redraw());
    if (colour.value !== "cluster") recolour(); // some browsers keep the choice when a page is loaded again

    byId("find").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      let found = -1, rank = 3;
      for (let i = 0; wanted && rank > 0 && i < n; i++) {
        const name = idOf(i).toLowerCase();
        const own = name === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) ? 2 : 3;
        if (own < rank) { rank = own; found = i; }
      }
      if (found >= 0 && hidden[labels[found]]) { show(labels[found], true); redraw(); }
      pin(found);
      if (wanted && found < 0) panel.textContent = "No sample id contains this text.";
    });

    // Nothing is redrawn for paper: Chromium prints a canvas as it was before, and leaves one empty that is drawn then.
    window.latefusionReport = {
      onScreen(i) {
        const box = maps[0].canvas.getBoundingClientRect();
        return { x: box.left + maps[0].x(i), y: box.top + maps[0].y(i) };
      },
      shown: () => Array.from(labels).filter((label) => !hidden[label]).length,
    };
  }
