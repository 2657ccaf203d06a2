/** Renders the page that offers updates by e-mail, feed and calendar. */
import { BackLink, renderDocument, type PageDocument, Sentence } from "./layout.tsx";

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
  const { view, language, to } = document;
  // CSS of the page must not be able to hide or cover the form.
  const files = { ...view.page.files, stylesheet: null };
  const plain = { ...document, view: { ...view, page: { ...view.page, files } } };
  const isSent = result !== null && result.trouble === null;
  return renderDocument(
    plain,
    `${language.say("getUpdates")} – ${view.page.title}`,
    <>
      <BackLink {...document} />
      <h1 className="month">{language.say("getUpdates")}</h1>
      <p className="about">{language.say("subscribeIntro")}</p>
      {isSent ? (
        <section className="sec way" role="status">
          <h2>{language.say("checkInbox")}</h2>
          <p>
            <Sentence
              parts={language.split("checkInboxText", { email: <b dir="auto">{result.email}</b> })}
            />
          </p>
        </section>
      ) : (
        takesMail && <MailForm result={result} document={document} />
      )}
      <section className="sec way">
        <h2>{language.say("byFeed")}</h2>
        <p className="feeds">
          <a href={to("/feed.rss")}>{language.say("rssFeed")}</a>{" "}
          <a href={to("/feed.atom")}>{language.say("atomFeed")}</a>{" "}
          <a href={to("/maintenance.ics")}>{language.say("maintenanceCalendar")}</a>
        </p>
      </section>
    </>,
  );
}

type MailFormProps = { result: SignUpResult; document: PageDocument };

function MailForm({ result, document: { language, to } }: MailFormProps) {
  const trouble = result?.trouble ?? null;
  return (
    <section className="sec way">
      <h2>{language.say("byEmail")}</h2>
      <form method="post" action={to("/subscribe")}>
        <label htmlFor="email">{language.say("emailAddress")}</label>
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
          <button>{language.say("subscribe")}</button>
        </div>
        {trouble === null ? (
          <p className="hint" id="what-happens">
            {language.say("confirmHint")}
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
