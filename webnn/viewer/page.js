// Shows the graphs of the page.
{
  const { documents } = JSON.parse(document.getElementById("documents").textContent);
  const place = document.getElementById("viewer");
  const choice = document.getElementById("graphs");
  let shown = webnnViewer.show(place, documents[0]);
  choice?.addEventListener("change", () => {
    shown.remove();
    shown = webnnViewer.show(place, documents[Number(choice.value)]);
  });
}
