/**
 * Script of public status pages: local times on hover, details of each day, the age of the last check, and updates every 15 s.
 */
const words = JSON.parse(document.currentScript.dataset.words);
const { lang } = document.documentElement;
const locale = lang === "en" ? "en-GB" : lang;
const relative = new Intl.RelativeTimeFormat(locale);

const describeAge = (seconds) => {
  const [short, unit, length] =
    seconds < 60
      ? ["s", "second", 1]
      : seconds < 3_600
        ? ["min", "minute", 60]
        : ["h", "hour", 3_600];
  const count = Math.floor(seconds / length);
  return lang === "en" ? `${count}\u202f${short} ago` : relative.format(-count, unit);
};

const showAge = () => {
  const time = document.querySelector(".checked time");
  if (time === null) return;
  const seconds = Math.max(0, Math.floor((Date.now() - new Date(time.dateTime)) / 1_000));
  time.textContent = describeAge(seconds);
};
const local = () => {
  for (const time of document.querySelectorAll("time"))
    time.title = new Date(time.dateTime).toLocaleString(locale);
  showAge();
  // One tab stop per row. Arrow keys move between its days.
  for (const bars of allBars()) {
    bars.role = "group";
    bars.tabIndex = 0;
  }
};

// The popover of a day, opened by hover, tap, focus and arrow keys.
const allBars = () => [...document.querySelectorAll(".bars:not(.worst)")];
const pop = document.createElement("div");
pop.className = "pop";
pop.hidden = true;
pop.ariaLive = "polite";
document.body.append(pop);
let shown = null;
let timer;

const element = (name, text, properties = {}) =>
  Object.assign(document.createElement(name), { textContent: text, ...properties });

const close = () => {
  clearTimeout(timer);
  shown?.classList.remove("open");
  shown = null;
  pop.hidden = true;
};
const later = (ms, act) => {
  clearTimeout(timer);
  timer = setTimeout(() => act(), ms);
};

/** Splits a part of a day, such as `17 s down`, into its value and the label of its state. */
const readPart = (part) => {
  const [tone, label = part, before = "", after = ""] =
    words.parts.find(([, , before, after]) => part.startsWith(before) && part.endsWith(after)) ??
    [];
  return tone === undefined
    ? { label: part.charAt(0).toLocaleUpperCase(locale) + part.slice(1), value: "" }
    : { tone, label, value: part.slice(before.length, part.length - after.length) };
};

const open = (bar) => {
  clearTimeout(timer);
  if (bar === shown) return;
  shown?.classList.remove("open");
  shown = bar;
  bar.classList.add("open");
  // The browser's tooltip would cover the popover.
  if (bar.title) [bar.dataset.day, bar.title] = [bar.title, ""];
  const [date] = bar.dataset.day.split(": ", 1);
  const parts = bar.dataset.day
    .slice(date.length + 2)
    .split(words.separator)
    .map(readPart);
  const day = new Date(date).toLocaleDateString(locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    ...(date.slice(0, 4) !== String(new Date().getFullYear()) && { year: "numeric" }),
    timeZone: "UTC",
  });
  const lines = element("dl", "");
  // Lists downtimes before the uptime that results from them.
  for (const { tone, label, value } of [
    ...parts.filter((part) => part.tone !== "up"),
    ...parts.filter((part) => part.tone === "up"),
  ]) {
    const term = element("dt", label);
    const shape = document.querySelector(`.keys svg.${tone}`);
    if (shape !== null && tone !== "up") term.prepend(shape.cloneNode(true), " ");
    lines.append(term, element("dd", value));
  }
  const row = bar.parentElement;
  const at = [...row.children].indexOf(bar);
  const incidents = JSON.parse(row.dataset.incidents ?? "[]").filter(
    ({ first, last }) => first <= at && at <= last,
  );
  pop.replaceChildren(element("h3", day), lines);
  for (const { title, severity, url } of incidents.slice(0, 3)) {
    const tone = severity === "minor" ? "degraded" : "down";
    const line = element("p", "");
    line.append(
      element("span", words.severities[severity], { className: `sev ${tone}` }),
      element("a", title, { href: url, dir: "auto" }),
    );
    pop.append(line);
  }
  const enter = incidents.length > 0 ? `↵ ${words.keyOpen} · ` : "";
  const keys = `← → ${words.keyDay} · ${enter}Esc ${words.keyClose}`;
  pop.append(element("small", keys, { ariaHidden: "true" }));
  pop.hidden = false;
  const [box, whole] = [bar.getBoundingClientRect(), row.getBoundingClientRect()];
  // In narrow windows, the popover is as wide as the row.
  pop.style.width = innerWidth > 600 ? "" : `${whole.width}px`;
  const middle = box.left + box.width / 2;
  const last = whole.right - pop.offsetWidth;
  const left = Math.max(whole.left, Math.min(last, middle - pop.offsetWidth / 2));
  const below = whole.bottom + 12;
  const isBelow = below + pop.offsetHeight < innerHeight || whole.top < pop.offsetHeight + 12;
  pop.classList.toggle("above", !isBelow);
  pop.style.setProperty("--at", `${Math.max(12, Math.min(pop.offsetWidth - 12, middle - left))}px`);
  pop.style.left = `${left + scrollX}px`;
  pop.style.top = `${(isBelow ? below : whole.top - 12 - pop.offsetHeight) + scrollY}px`;
};

const barAt = ({ target }) => (target.parentElement?.matches(".bars:not(.worst)") ? target : null);
document.addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse") return;
  const bar = barAt(event);
  if (bar !== null) later(shown === null ? 120 : 0, () => open(bar));
  else if (pop.contains(event.target)) clearTimeout(timer);
  else if (shown !== null && event.target !== shown.parentElement) later(160, close);
  else if (shown === null) clearTimeout(timer);
});
document.addEventListener("click", (event) => {
  const bar = barAt(event);
  const again = bar !== null && bar === shown && event.pointerType === "touch";
  if (bar !== null && !again) open(bar);
  else if (again || !pop.contains(event.target)) close();
});
document.addEventListener("focusin", ({ target }) => {
  if (target.classList.contains("bars") && target.matches(":focus-visible"))
    open(target.lastElementChild);
});
document.addEventListener("focusout", ({ relatedTarget }) => {
  if (!pop.contains(relatedTarget)) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
  const row = document.activeElement;
  if (!row?.classList.contains("bars") || event.altKey || event.ctrlKey || event.metaKey) return;
  const days = [...row.children].filter((bar) => bar.offsetWidth > 0);
  const at = shown === null ? days.length - 1 : days.indexOf(shown);
  // Right-to-left pages show the first day on the right.
  const step = document.documentElement.dir === "rtl" ? -1 : 1;
  const next = {
    ArrowLeft: at - step,
    ArrowRight: at + step,
    Home: 0,
    End: days.length - 1,
  }[event.key];
  if (next !== undefined) open(days[Math.max(0, Math.min(days.length - 1, next))]);
  else if (event.key === "Enter") pop.querySelector("a")?.click();
  else return;
  event.preventDefault();
});
local();
setInterval(showAge, 1_000);
setInterval(async () => {
  // A past time does not change.
  if (document.hidden || !pop.hidden || document.querySelector("#past")) return;
  const answer = await fetch(location.href, { cache: "no-cache" }).catch(() => null);
  // The visitor may no longer see the page.
  if (answer?.status === 403) location.reload();
  if (answer === null || !answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const place = document.activeElement?.getAttribute("href");
  const row = allBars().indexOf(document.activeElement);
  const folded = document.activeElement?.closest("summary")?.parentElement.id;
  for (const { id } of document.querySelectorAll("details[open]"))
    fresh.getElementById(id)?.setAttribute("open", "");
  for (const part of ["#status", ".top", "footer"]) {
    const [now, then] = [fresh.querySelector(part), document.querySelector(part)];
    if (now.innerHTML !== then.innerHTML) then.replaceWith(now);
  }
  // Restores the focus, which was lost with the replaced elements.
  if (place && document.activeElement === document.body)
    [...document.links]
      .find((link) => link.getAttribute("href") === place)
      ?.focus({ preventScroll: true });
  if (row !== -1) allBars()[row]?.focus({ preventScroll: true });
  if (folded) document.getElementById(folded)?.firstElementChild.focus({ preventScroll: true });
  document.querySelector("link[rel=icon]").href = fresh.querySelector("link[rel=icon]").href;
  local();
}, 15_000);
