/** Script of static copies of status pages: shows the time of the last publication, and warns if it is old. */
{
  const maxAgeMs = 5 * 60_000;
  const notice = document.getElementById("as-of");
  const { asOf: around, outdated } = JSON.parse(notice.dataset.words);
  const { lang } = document.documentElement;
  const format = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: notice.dataset.zone,
  });
  const written = notice.querySelector("time")?.dateTime;
  let asOf = written === undefined ? null : Date.parse(written);
  /** How far the clock of the server is ahead of this one, which can be wrong. */
  let aheadMs = 0;

  const show = () => {
    if (asOf === null) return;
    const time = document.createElement("time");
    time.dateTime = new Date(asOf).toISOString();
    time.textContent = format.format(asOf);
    const isOld = Date.now() + aheadMs - asOf > maxAgeMs;
    const className = isOld ? "outdated" : "";
    // Screen readers announce each change.
    if (notice.className === className && notice.querySelector("time")?.dateTime === time.dateTime)
      return;
    notice.className = className;
    notice.replaceChildren(around[0], time, around[1], isOld ? ` – ${outdated}` : "");
  };
  const load = async () => {
    const answer = await fetch(notice.dataset.source, { cache: "no-cache" }).catch(() => null);
    if (answer?.ok) {
      const read = await answer.json().catch(() => null);
      if (read !== null) asOf = Date.parse(read.asOf);
      const sent = Date.parse(answer.headers.get("date") ?? "");
      const age = Number(answer.headers.get("age") ?? 0) * 1_000;
      if (!Number.isNaN(sent + age)) aheadMs = sent + age - Date.now();
    }
    show();
  };
  void load();
  setInterval(() => {
    if (!document.hidden) void load();
  }, 30_000);
}
