"use strict";
// Tables sort by a click on a header; pictures tell their numbers where one points at them.
for (const table of document.querySelectorAll("table")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent || "row";
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      for (const other of headers) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
      };
      const compare = (a, b) => {
        if (typeof a === "number" && typeof b === "number") {
          // What is no number comes last.
          if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
          return (a - b) * (down ? -1 : 1);
        }
        return String(a).localeCompare(String(b)) * (down ? -1 : 1);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b))));
    });
  });
}
const tip = document.getElementById("tip");
for (const hit of document.querySelectorAll(".hit")) {
  const title = hit.querySelector("title");
  const text = title.textContent;
  title.remove();
  hit.addEventListener("pointerenter", () => {
    tip.textContent = text;
    tip.hidden = false;
    const box = hit.getBoundingClientRect();
    const left = window.scrollX + box.left + box.width / 2 - tip.offsetWidth / 2;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${Math.max(4, Math.min(left, most))}px`;
    tip.style.top = `${window.scrollY + box.top - tip.offsetHeight - 4}px`;
  });
  hit.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
}
