  // Curves of survival: a click on a cluster colours its curve, pointing at it shows it in front of all others.
  function chooseCurves() {
    const curveOf = (key) => document.querySelector(".survivors[data-cluster='" + key.dataset.cluster + "']");
    for (const key of document.querySelectorAll(".curve-key")) {
      const curve = curveOf(key), chart = curve.ownerSVGElement;
      key.addEventListener("click", () => {
        const isColoured = key.getAttribute("aria-pressed") !== "true";
        key.setAttribute("aria-pressed", String(isColoured));
        curve.classList.toggle("grey", !isColoured);
      });
      const point = (isPointed) => {
        chart.classList.toggle("pointed", isPointed);
        curve.classList.toggle("alone", isPointed);
        if (isPointed) chart.append(curve); // drawn last, in front
      };
      for (const [name, isPointed] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]) {
        key.addEventListener(name, () => point(isPointed));
      }
    }
  }
