/** Renders the page that offers updates by e-mail, feed and calendar. */
import { BackLink, renderDocument, type PageDocument } from "./layout.tsx";

/** Result of a sign-up; null before the form is submitted. */
export type SignUpResult = {
  email: string;
  trouble: string | null;
  status: number;
  /** Seconds until another attempt is possible. */
  retryAfter?: number;
} | null;

/** Renders the page. The e-mail form needs a mail server. A successful sign-up replaces it with a confirmation. */
export function renderSubscribePage(
  document: PageDocument,
  takesMail: boolean,
  result: SignUpResult,
) {
  const { view, base } = document;
  const isSent = result !== null && result.trouble === null;
  return renderDocument(
    document,
    `Get updates – ${view.page.title}`,
    <>
      <BackLink base={base} />
      <h1 className="month">Get updates</h1>
      <p className="about">
        You are notified when an incident is posted and when maintenance is scheduled.
      </p>
      {isSent ? (
        <section className="sec way" role="status">
          <h2>Check your inbox</h2>
          <p>
            If <b dir="auto">{result.email}</b> is not subscribed yet, an e-mail with a link is on
            its way to it. Updates are sent once you have followed the link.
          </p>
        </section>
      ) : (
        takesMail && <MailForm result={result} base={base} />
      )}
      <section className="sec way">
        <h2>With a feed reader or a calendar</h2>
        <p className="feeds">
          <a href={`${base}/feed.rss`}>RSS feed</a> <a href={`${base}/feed.atom`}>Atom feed</a>{" "}
          <a href={`${base}/maintenance.ics`}>Calendar of maintenance</a>
        </p>
      </section>
    </>,
  );
}

function MailForm({ result, base }: { result: SignUpResult; base: string }) {
  const trouble = result?.trouble ?? null;
  return (
    <section className="sec way">
      <h2>By e-mail</h2>
      <form method="post" action={`${base}/subscribe`}>
        <label htmlFor="email">E-mail address</label>
        <div className="ask">
          <input
            id="email"
            name="email"
            type="email"
            autoComplete="email"
            maxLength={254}
            required
            defaultValue={result?.email}
            aria-invalid={trouble !== null}
            aria-describedby={trouble === null ? "what-happens" : "trouble"}
          />
          <button>Subscribe</button>
        </div>
        {trouble === null ? (
          <p className="hint" id="what-happens">
            You get an e-mail with a link to confirm. Every update has a link to unsubscribe.
          </p>
        ) : (
          <p className="trouble" id="trouble" role="alert">
            {trouble}
          </p>
        )}
      </form>
    </section>
  );
}
