// Times of the viewer on hover, and what is new every 15 s without a reload.
const local = () => {
  for (const time of document.querySelectorAll("time"))
    time.title = new Date(time.dateTime).toLocaleString();
};
local();
setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch(location.href, { cache: "no-cache" }).catch(() => null);
  if (answer === null || !answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const place = document.activeElement?.getAttribute("href");
  for (const part of ["#status", ".top", "footer"]) {
    const [now, then] = [fresh.querySelector(part), document.querySelector(part)];
    if (now.innerHTML !== then.innerHTML) then.replaceWith(now);
  }
  // Whoever stood on a link stands there again.
  if (place && document.activeElement === document.body)
    [...document.links]
      .find((link) => link.getAttribute("href") === place)
      ?.focus({ preventScroll: true });
  document.querySelector("link[rel=icon]").href = fresh.querySelector("link[rel=icon]").href;
  local();
}, 15_000);
