/* The table of compatibility: mark the devices that take a data type. */
document$.subscribe(() => {
  const choice = document.getElementById("data-type");
  if (!choice) return;
  const cells = document.querySelectorAll(".compatibility td[data-types]");
  const mark = () => {
    for (const cell of cells) {
      const takes = choice.value && cell.dataset.types.split(" ").includes(choice.value);
      cell.classList.toggle("yes", Boolean(takes));
      cell.classList.toggle("no", Boolean(choice.value) && !takes);
    }
  };
  choice.addEventListener("change", mark);
  mark();
});
/* A table that is wider than its place scrolls, also with the arrow keys. The theme puts it into an element of its own. */
document$.subscribe(() => {
  const watcher = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) watcher.observe(table);
});
