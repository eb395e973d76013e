(() => {
  // A link to a folded section opens it; a printed page has all of them open.
  const open = () => {
    const part = location.hash && document.getElementById(location.hash.slice(1))?.querySelector("details.fold");
    if (part) part.open = true;
  };
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => document.querySelectorAll("details.fold").forEach((one) => (one.open = true)));
  for (const link of document.querySelectorAll("nav a")) link.addEventListener("click", () => setTimeout(open));
  open();
})();
