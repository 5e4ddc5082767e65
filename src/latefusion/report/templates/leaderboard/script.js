  // One part of the page at a time: the one that the address names, or the first board.
  const pages = Array.from(document.querySelectorAll(".page")), titleOfAll = document.title;

  function show(isFirst) {
    const target = document.getElementById(location.hash.slice(1));
    if (target && !target.closest(".page") && !isFirst) return; // the skip link stays on its part
    const shown = (target && target.closest(".page")) || pages[0];
    for (const page of pages) page.hidden = page !== shown;
    document.querySelector(".lead").hidden = !shown.classList.contains("board");
    const heading = shown.querySelector("h2");
    document.title = shown === pages[0] ? titleOfAll : heading.textContent + " \u00b7 " + titleOfAll;
    for (const link of document.querySelectorAll("#contents a")) {
      if (link.hash === "#" + shown.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (isFirst && !location.hash) return;
    if (target && target !== shown) { target.scrollIntoView(); return; }
    if (!isFirst) { heading.tabIndex = -1; heading.focus({ preventScroll: true }); }
    window.scrollTo(0, 0);
  }

  window.addEventListener("hashchange", () => show(false));
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.querySelectorAll(".board").forEach(startBoard);
  show(true);
  root.dataset.ready = "true";
