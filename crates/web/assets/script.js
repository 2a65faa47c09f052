// Makes pages live: replaces what has changed, opens steps without a reload, and knows a few keys. Pages work without it.
"use strict";
(() => {
  const status = document.getElementById("status");
  const say = (text) => { if (status && status.textContent !== text) status.textContent = text; };

  // --- Replacing: `from` becomes like `to`, element by element, so that focus, scrolling and opened parts stay. ---
  const keyOf = (node) => (node.nodeType === 1 && node.id) || "";
  const kept = (element, name) =>
    (name === "open" && element.localName === "details") || (name === "hidden" && element.matches("button.copy")) ||
    (name === "class" && element.classList.contains("current"));

  function update(from, to) {
    if (from.isEqualNode(to)) return;
    if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || keyOf(from) !== keyOf(to)) {
      from.replaceWith(document.importNode(to, true));
      return;
    }
    if (from.nodeType !== 1) { from.nodeValue = to.nodeValue; return; }
    // What somebody types stays.
    if (from === document.activeElement && /^(input|textarea|select)$/.test(from.localName)) return;
    for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && !kept(from, name)) from.removeAttribute(name);
    for (const { name, value } of [...to.attributes]) {
      if (from.getAttribute(name) !== value && !kept(from, name)) from.setAttribute(name, value);
    }
    updateChildren(from, to);
  }

  function updateChildren(from, to) {
    const byKey = new Map();
    for (const child of from.childNodes) if (keyOf(child)) byKey.set(keyOf(child), child);
    let at = from.firstChild;
    for (const wanted of [...to.childNodes]) {
      const key = keyOf(wanted);
      let own = key ? byKey.get(key) : at;
      if (!key && own && keyOf(own)) {
        // An element with an id waits for its partner.
        own = null;
      }
      if (!own) {
        const added = document.importNode(wanted, true);
        if (added.localName === "tr") added.classList.add("fresh");
        from.insertBefore(added, at);
        continue;
      }
      if (own !== at) from.insertBefore(own, at);
      const next = own.nextSibling;
      update(own, wanted);
      at = next;
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  }

  async function fetchPage(address) {
    const response = await fetch(address, { headers: { accept: "text/html" }, credentials: "same-origin" });
    if (response.redirected && new URL(response.url).pathname === "/sign-in") { location.reload(); return null; }
    if (!response.ok) throw new Error(String(response.status));
    return new DOMParser().parseFromString(await response.text(), "text/html");
  }

  const partAddress = (part) => {
    const address = new URL(location.href);
    address.hash = "";
    address.searchParams.set("part", part);
    return address;
  };

  // --- New runs do not move what is being read: their rows wait until the reader asks for them. ---
  const newRuns = () => document.getElementById("new-runs");
  let seen = newRuns() ? newRuns().dataset.newest : "";
  let showsNew = false;
  function refreshAddress() {
    const address = new URL(location.href);
    if (newRuns()) address.searchParams.set("seen", seen);
    return address;
  }
  function hold(page) {
    const [table, fresh, box] = [document.querySelector("table.runs"), page.querySelector("table.runs"), page.getElementById("new-runs")];
    if (!box) return;
    const isRead = !showsNew && table && (window.scrollY > 80 || table.contains(document.activeElement));
    let held = 0;
    for (const row of isRead && fresh ? [...fresh.tBodies[0].rows] : []) {
      if (!document.getElementById(row.id)) { row.remove(); held += 1; }
    }
    const hidden = Number(box.dataset.hidden);
    if (!held && !hidden) seen = box.dataset.newest;
    box.replaceChildren();
    if (!held && !hidden) return;
    const link = page.createElement("a");
    link.className = "button";
    link.textContent = `${held + hidden} new`;
    link.setAttribute("href", held ? location.pathname + location.search : "/");
    if (held) link.dataset.show = "rows";
    box.append(link);
  }
  function focusFirstRow() {
    showsNew = false;
    window.scrollTo(0, 0);
    const first = document.querySelector("table.runs tbody a");
    if (first) first.focus({ preventScroll: true });
  }

  // --- Live: one request at a time; what changes meanwhile is asked for afterwards. ---
  let busy = false;
  let again = false;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const here = location.href;
      const page = await fetchPage(refreshAddress());
      const [main, nav] = [page && page.getElementById("main"), page && page.getElementById("nav")];
      // The reader may have gone on meanwhile.
      if (main && here === location.href) {
        const own = document.getElementById("main");
        performance.mark("update-start");
        hold(page);
        update(own, main);
        if (nav) update(document.getElementById("nav"), nav);
        ready(own);
        performance.measure("update", "update-start");
        if (showsNew) focusFirstRow();
        if (!own.dataset.live) stopListening();
      }
    } catch (error) {
      lost();
    } finally {
      busy = false;
      if (again) { again = false; setTimeout(refresh, 50); }
    }
  }

  let source = null;
  let waiting = null;
  function stopListening() { if (source) source.close(); source = null; }
  function lost() {
    say("The server does not answer. Trying again…");
    stopListening();
    if (!waiting) waiting = setTimeout(() => { waiting = null; listen(true); }, 1000);
  }
  function listen(missed) {
    const live = document.getElementById("main").dataset.live;
    if (!live || source) { if (missed && !live) { say(""); } return; }
    source = new EventSource(live);
    let first = true;
    source.addEventListener("open", () => {
      say("");
      // Something may have happened while nobody listened.
      if (missed || !first) refresh();
      first = false;
    });
    source.addEventListener("change", refresh);
    source.addEventListener("end", () => { stopListening(); refresh(); });
    source.addEventListener("error", lost);
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stopListening(); else listen(true);
  });

  // --- The panel of a step, without a reload. ---
  async function openStep(address, push) {
    if (push) history.pushState(null, "", address);
    try {
      const page = await fetchPage(partAddress("panel"));
      const panel = page && page.getElementById("panel");
      const own = document.getElementById("panel");
      if (!panel || !own) { location.reload(); return; }
      update(own, panel);
      own.scrollTop = 0;
      ready(own);
      showSelected();
      showTarget();
      if (push) own.focus({ preventScroll: window.innerWidth > 960 });
    } catch (error) { location.reload(); }
  }
  const selectedStep = () => new URL(location.href).searchParams.get("step");
  function showSelected() {
    const step = selectedStep();
    for (const node of document.querySelectorAll(".graph .node")) node.classList.toggle("selected", node.dataset.step === step);
    for (const row of document.querySelectorAll(".timeline tbody tr")) {
      const link = row.querySelector("a[data-step]");
      row.classList.toggle("selected", Boolean(link && step) && link.dataset.step === step);
    }
  }
  function showTarget() {
    for (const old of document.querySelectorAll(".line.target")) old.classList.remove("target");
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name && document.getElementById(name);
    if (!target) return;
    for (let part = target; part; part = part.parentElement) if (part.localName === "details") part.open = true;
    if (target.classList.contains("line")) target.classList.add("target");
    target.scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("click", (event) => {
    const copy = event.target.closest("button.copy");
    if (copy) {
      const text = copy.dataset.copy || (copy.parentElement.querySelector("pre") || copy.parentElement).textContent;
      navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("The browser does not allow copying."));
      return;
    }
    if (event.target.closest("a[data-show]")) { event.preventDefault(); showsNew = true; refresh(); return; }
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const href = typeof link.href === "object" ? link.href.baseVal : link.href;
    const address = new URL(href, location.href);
    const isStep = address.pathname === location.pathname && document.getElementById("panel") && address.origin === location.origin &&
      (address.searchParams.has("step") || link.classList.contains("close"));
    if (!isStep) return;
    event.preventDefault();
    openStep(address, true);
  });
  window.addEventListener("popstate", () => { if (document.querySelector(".graph")) openStep(location.href, false); });
  window.addEventListener("hashchange", showTarget);

  // --- A plan is checked while it is written. ---
  let checking = null;
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-check]");
    if (!form) return;
    clearTimeout(checking);
    checking = setTimeout(async () => {
      try {
        const response = await fetch(form.dataset.check, { method: "POST", body: new URLSearchParams(new FormData(form)) });
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const found = page.getElementById("findings");
        if (found) update(document.getElementById("findings"), found);
      } catch (error) { lost(); }
    }, 400);
  });

  // --- Where a value comes from: the line of the graph and the step light up. ---
  function light(event, on) {
    const origin = event.target.closest && event.target.closest("[data-source]");
    if (!origin) return;
    const step = origin.dataset.source;
    const to = (origin.closest("[data-step]") || { dataset: {} }).dataset.step;
    for (const line of document.querySelectorAll(".graph .line")) {
      const isOwn = line.dataset.from === step && (!to || line.dataset.to === to);
      line.classList.toggle("lit", on && isOwn);
    }
    for (const node of document.querySelectorAll(".graph .node")) node.classList.toggle("lit", on && node.dataset.step === step);
  }
  for (const [name, on] of [["mouseover", true], ["focusin", true], ["mouseout", false], ["focusout", false]]) {
    document.addEventListener(name, (event) => light(event, on));
  }

  // --- Keys ---
  let before = "";
  const items = () => [...document.querySelectorAll("[data-item]")];
  const linkOf = (item) => (item.matches("a") ? item : item.querySelector("a"));
  function move(by) {
    const all = items();
    if (!all.length) return;
    const at = all.findIndex((item) => item.contains(document.activeElement));
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    for (const item of all) if (item.localName === "tr") item.classList.toggle("current", item === next);
    linkOf(next).focus();
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    const key = event.key;
    if (before === "g" && key === "r") { location.href = "/"; }
    else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "?") document.getElementById("keys").showModal();
    else if (key === "/") { const search = document.getElementById("search"); if (search) { search.focus(); event.preventDefault(); } }
    else if (key === "Escape") { const close = document.querySelector("#panel .close"); if (close) close.click(); }
    before = key;
  });

  // What only works with a script appears with it.
  function ready(root) { for (const button of root.querySelectorAll("button.copy")) button.hidden = !navigator.clipboard; }
  ready(document);
  // A link such as #step-3 opens the step.
  const name = decodeURIComponent(location.hash.slice(1));
  const known = name && [...document.querySelectorAll(".graph .node")].find((node) => node.dataset.step === name);
  if (known) openStep(new URL(known.getAttribute("href"), location.href), true); else showTarget();
  listen(false);
})();
