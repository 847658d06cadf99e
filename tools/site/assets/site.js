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
