  editNames();
  chooseCurves();
  if (data) drawMaps();
  root.dataset.ready = "true";
