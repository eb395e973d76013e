"use strict";
(() => {
  const table = document.getElementById("words");
  const body = table.tBodies[0];
  const heads = [...table.tHead.querySelectorAll("th")].filter((head) => head.querySelector("button"));
  const form = document.querySelector("form.search");
  const query = document.getElementById("query");
  const found = document.getElementById("found");

  // "camara" finds "Cámara": case and accents are ignored.
  const plain = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const words = (row) => [...row.querySelectorAll("bdi")].map((one) => one.textContent);
  const rows = [...body.rows].map((row) => ({
    row,
    key: plain(words(row).join("\n")),
    rank: Number(row.cells[0].textContent),
    word: words(row)[0],
    best: words(row)[1] ?? "", // a word without a translation
    score: Number(row.cells[3].textContent.replace("−", "-") || -Infinity),
  }));

  const show = () => {
    const asked = plain(query.value.trim());
    let count = 0;
    for (const one of rows) {
      const hit = one.key.includes(asked);
      one.row.hidden = !hit;
      count += hit;
    }
    const all = rows.length.toLocaleString("en");
    found.textContent = !asked ? `${all} rows` : count ? `${count.toLocaleString("en")} of ${all} rows found` : "No row found";
  };

  const collator = new Intl.Collator(undefined, { sensitivity: "variant", numeric: true });
  const sort = (key, down) => {
    const compare = typeof rows[0]?.[key] === "number" ? (a, b) => a[key] - b[key] : (a, b) => collator.compare(a[key], b[key]);
    rows.sort((a, b) => (down ? -1 : 1) * compare(a, b) || a.rank - b.rank);
    body.append(...rows.map((one) => one.row));
  };

  for (const head of heads) {
    const button = head.querySelector("button");
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      // A newly chosen column is first sorted by the best scores or from A to Z.
      const down = now === "none" ? button.dataset.key === "score" : now === "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(button.dataset.key, down);
    });
  }

  query.addEventListener("input", show);
  query.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && query.value) {
      query.value = "";
      show();
    }
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show();
})();
