(() => {
  const source = document.getElementById("points");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const GRID = 9999, TAU = 2 * Math.PI, FEW = 3000; // points up to which each is drawn as a shape
  const canvas = document.getElementById("map"), pen = canvas.getContext("2d");
  const find = document.getElementById("find"), hits = document.getElementById("hits");
  const found = document.getElementById("hits-found"), chosen = document.getElementById("chosen");
  const root = document.querySelector(".explorer"), views = [...root.querySelectorAll("[data-view]")];
  const plain = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const keys = data.names.map((names) => names.map(plain));
  const count = data.names.map((names) => names.length);
  const loose = data.loose.map((rows, side) => {
    const flags = new Uint8Array(count[side]);
    for (const row of rows) flags[row] = 1;
    return flags;
  });
  for (const name of ["after", "before"]) data[name] = data[name].map((places) => Float32Array.from(places));
  // Which source points have a target as their best match.
  const back = Array.from({ length: count[1] }, () => []);
  for (let i = 0; i < count[0]; i++) if (!loose[0][i]) back[data.matches[i * data.k]].push(i);

  let view = "after", zoom = 1, left = 0, top = 0, picked = null, over = null, asked = false;
  const size = () => [canvas.clientWidth, canvas.clientHeight];

  // From coordinates to the screen: x ↦ a x + b, y ↦ c y + d. Before, the source is on the left half, the target on the right.
  const frame = (side) => {
    const [wide, high] = size(), half = view === "before", box = Math.min(half ? wide / 2 : wide, high);
    const middle = half ? wide * (side ? 0.75 : 0.25) : wide / 2, each = (box * zoom) / GRID;
    return [each, (middle - box / 2 - wide / 2) * zoom + wide / 2 + left, -each, (box / 2) * zoom + high / 2 + top];
  };
  const spot = (side, row) => {
    const [a, b, c, d] = frame(side), at = data[view][side];
    return [a * at[2 * row] + b, c * at[2 * row + 1] + d];
  };
  const inks = () => {
    const style = getComputedStyle(root);
    return ["--source", "--target", "--ink", "--card", "--soft"].map((name) => style.getPropertyValue(name).trim());
  };

  const draw = () => {
    asked = false;
    const begun = performance.now(), ratio = window.devicePixelRatio || 1, [wide, high] = size();
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(high * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, high);
    const ink = inks(), many = count[0] + count[1];
    const dot = Math.max(1.5, Math.min(4, 260 / Math.sqrt(many))) * Math.min(2, Math.sqrt(zoom));
    const near = [];
    for (const side of [1, 0]) {
      const [a, b, c, d] = frame(side), at = data[view][side];
      for (let row = 0; row < count[side] && near.length <= 60; row++) {
        const x = a * at[2 * row] + b, y = c * at[2 * row + 1] + d;
        if (x >= 0 && y >= 0 && x <= wide && y <= high) near.push([side, row, x, y]);
      }
    }
    if (many > FEW) paint(ink, Math.max(1, Math.round(dot * ratio)), ratio);
    else stamp(ink, dot, wide, high);
    if (near.length <= 60) for (const [side, row, x, y] of near) label(side, row, x, y, ink);
    if (picked) mark(picked, ink);
    if (over && !(picked && over[0] === picked[0] && over[1] === picked[1])) ring(...over, ink, true);
    canvas.dataset.milliseconds = (performance.now() - begun).toFixed(1);
  };
  // A few points: squares, hollow where there is no counterpart.
  const stamp = (ink, dot, wide, high) => {
    pen.globalAlpha = picked ? 0.3 : 0.8;
    for (const side of [1, 0]) {
      const [a, b, c, d] = frame(side), at = data[view][side];
      pen.fillStyle = pen.strokeStyle = ink[side];
      pen.lineWidth = 1;
      for (let row = 0; row < count[side]; row++) {
        const x = a * at[2 * row] + b, y = c * at[2 * row + 1] + d;
        if (x < 0 || y < 0 || x > wide || y > high) continue;
        if (loose[side][row]) pen.strokeRect(x - dot / 2, y - dot / 2, dot, dot);
        else pen.fillRect(x - dot / 2, y - dot / 2, dot, dot);
      }
    }
    pen.globalAlpha = 1;
  };
  // Many points: pixels, which a browser draws in a few milliseconds; those without a counterpart are faint.
  const paint = (ink, dot, ratio) => {
    const wide = canvas.width, high = canvas.height, image = pen.createImageData(wide, high), bytes = image.data;
    for (const side of [1, 0]) {
      const [a, b, c, d] = frame(side), at = data[view][side], hue = parseInt(ink[side].slice(1), 16);
      const red = hue >> 16, green = (hue >> 8) & 255, blue = hue & 255;
      for (let row = 0; row < count[side]; row++) {
        const x = Math.round((a * at[2 * row] + b) * ratio - dot / 2), y = Math.round((c * at[2 * row + 1] + d) * ratio - dot / 2);
        if (x < 0 || y < 0 || x + dot > wide || y + dot > high) continue;
        const more = (loose[side][row] ? 50 : 140) * (picked ? 0.5 : 1);
        for (let v = y; v < y + dot; v++)
          for (let i = 4 * (v * wide + x), end = i + 4 * dot; i < end; i += 4) {
            const share = more / (more + bytes[i + 3]);
            bytes[i] += (red - bytes[i]) * share;
            bytes[i + 1] += (green - bytes[i + 1]) * share;
            bytes[i + 2] += (blue - bytes[i + 2]) * share;
            bytes[i + 3] = Math.min(255, bytes[i + 3] + more);
          }
      }
    }
    pen.putImageData(image, 0, 0);
  };
  const label = (side, row, x, y, ink) => {
    pen.font = "600 12px system-ui, sans-serif";
    pen.lineWidth = 3;
    pen.strokeStyle = ink[3];
    pen.fillStyle = ink[side];
    pen.strokeText(data.names[side][row], x + 6, y + 4);
    pen.fillText(data.names[side][row], x + 6, y + 4);
  };
  const ring = (side, row, ink, named) => {
    const [x, y] = spot(side, row);
    pen.beginPath();
    pen.arc(x, y, 5, 0, TAU);
    pen.fillStyle = ink[side];
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = ink[2];
    pen.stroke();
    if (named) label(side, row, x, y, ink);
  };
  const mark = ([side, row], ink) => {
    const others = partners(side, row), [x, y] = spot(side, row);
    others.forEach(([other], place) => {
      const [u, v] = spot(1 - side, other);
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(u, v);
      pen.strokeStyle = ink[4];
      pen.lineWidth = place ? 0.8 : 2;
      pen.stroke();
      ring(1 - side, other, ink, place < 3);
    });
    ring(side, row, ink, true);
  };
  // The matches of a source point, best first; the source points whose best match a target is.
  const partners = (side, row) => {
    if (side === 1) return back[row].slice(0, 20).map((i) => [i, data.scores[i * data.k]]);
    if (loose[0][row]) return [];
    return Array.from({ length: data.k }, (_, j) => [data.matches[row * data.k + j], data.scores[row * data.k + j]]);
  };

  const refresh = () => {
    if (!asked) {
      asked = true;
      requestAnimationFrame(draw);
    }
  };
  const button = (side, row, more) => {
    const item = document.createElement("li"), made = document.createElement("button"), name = document.createElement("bdi");
    name.textContent = data.names[side][row];
    name.className = "key " + (side ? "target" : "source");
    made.type = "button";
    made.append(name);
    made.addEventListener("click", () => pick(side, row, true));
    item.append(made);
    if (more !== undefined) item.append(` ${data.scoreName} ${more}`);
    return item;
  };
  const pick = (side, row, centre) => {
    picked = [side, row];
    if (centre && zoom > 1) {
      const [wide, high] = size(), [x, y] = spot(side, row);
      left += wide / 2 - x;
      top += high / 2 - y;
    }
    const head = document.createElement("h3"), list = document.createElement("ol"), others = partners(side, row);
    const name = document.createElement("bdi");
    name.textContent = data.names[side][row];
    head.append(name);
    chosen.replaceChildren(head);
    const told = document.createElement("p");
    told.textContent = !others.length ? "No counterpart." : side ? "Best match of:" : "Its matches, best first:";
    list.append(...others.map(([other, score]) => button(1 - side, other, score)));
    chosen.append(told, list);
    refresh();
  };
  const closest = (x, y, within) => {
    let best = null, least = within * within;
    for (const side of [0, 1]) {
      const [a, b, c, d] = frame(side), at = data[view][side];
      for (let row = 0; row < count[side]; row++) {
        const far = (a * at[2 * row] + b - x) ** 2 + (c * at[2 * row + 1] + d - y) ** 2;
        if (far < least) [best, least] = [[side, row], far];
      }
    }
    return best;
  };
  const search = () => {
    const wanted = plain(find.value.trim());
    const rows = [];
    let total = 0;
    if (wanted)
      for (const side of [0, 1])
        keys[side].forEach((key, row) => {
          if (!key.includes(wanted)) return;
          total++;
          rows.push([key === wanted ? 0 : key.startsWith(wanted) ? 1 : 2, side, row]);
        });
    rows.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
    hits.replaceChildren(...rows.slice(0, 12).map(([, side, row]) => button(side, row)));
    found.textContent = !wanted ? "" : total ? `${total.toLocaleString("en")} found` : "No point found";
  };
  const scale = (factor, x, y) => {
    const [wide, high] = size(), before = zoom;
    zoom = factor ? Math.min(200, Math.max(1, zoom * factor)) : 1;
    const part = zoom / before, u = (x ?? wide / 2) - wide / 2, v = (y ?? high / 2) - high / 2;
    left = zoom === 1 ? 0 : u - (u - left) * part;
    top = zoom === 1 ? 0 : v - (v - top) * part;
    refresh();
  };

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = [event.clientX, event.clientY, left, top, false];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const [x, y, before, above] = drag;
      drag[4] ||= Math.hypot(event.clientX - x, event.clientY - y) > 4;
      if (drag[4] && zoom > 1) [left, top] = [before + event.clientX - x, above + event.clientY - y];
    } else if (event.pointerType === "mouse") over = closest(event.offsetX, event.offsetY, 12);
    refresh();
  });
  canvas.addEventListener("pointerup", (event) => {
    const moved = drag && drag[4];
    drag = null;
    const best = moved ? null : closest(event.offsetX, event.offsetY, 24);
    if (best) pick(...best, false);
  });
  canvas.addEventListener("pointerleave", () => { over = null; refresh(); });
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return; // a page that is scrolled past is not zoomed
    event.preventDefault();
    scale(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
  }, { passive: false });
  for (const one of views)
    one.addEventListener("click", () => {
      view = one.dataset.view;
      for (const other of views) other.setAttribute("aria-pressed", String(other === one));
      scale(0);
    });
  for (const one of root.querySelectorAll("[data-zoom]")) one.addEventListener("click", () => scale(Number(one.dataset.zoom)));
  find.addEventListener("input", search);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") hits.querySelector("button")?.click();
  });
  new ResizeObserver(refresh).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
  root.querySelector(".controls").hidden = false;
  refresh();
})();
