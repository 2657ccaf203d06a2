/** Renders the page that offers updates by e-mail, feed and calendar. */
import { BackLink, renderDocument, type PageDocument, Sentence } from "./layout.tsx";

/** Result of a sign-up; null before the form is submitted. */
export type SignUpResult = {
  email: string;
  trouble: string | null;
  /** What was submitted. */
  medium: "email" | "chat";
  status: number;
  /** Seconds until another attempt is possible. */
  retryAfter?: number;
} | null;

/** Renders the page with the forms that it offers. A successful sign-up replaces them with a confirmation. */
export function renderSubscribePage(
  document: PageDocument,
  { takesMail, takesChats }: { takesMail: boolean; takesChats: boolean },
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
        <Sent result={result} document={document} />
      ) : (
        <>
          {takesMail && (
            <MailForm result={result?.medium === "email" ? result : null} document={document} />
          )}
          {takesChats && (
            <ChatForm
              trouble={result?.medium === "chat" ? result.trouble : null}
              document={document}
            />
          )}
        </>
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

function Sent({ result, document: { language } }: MailFormProps) {
  const isChat = result?.medium === "chat";
  return (
    <section className="sec way" role="status">
      <h2>{language.say(isChat ? "checkChannel" : "checkInbox")}</h2>
      <p>
        {isChat ? (
          language.say("checkChannelText")
        ) : (
          <Sentence
            parts={language.split("checkInboxText", { email: <b dir="auto">{result?.email}</b> })}
          />
        )}
      </p>
    </section>
  );
}

/** The form for the webhook of a chat, which is never shown again, because it is a secret. */
function ChatForm({
  trouble,
  document: { language, to },
}: {
  trouble: string | null;
  document: PageDocument;
}) {
  return (
    <section className="sec way">
      <h2>{language.say("byChat")}</h2>
      <form method="post" action={to("/subscribe")}>
        <label htmlFor="webhook">{language.say("webhookAddress")}</label>
        <div className="ask">
          <input
            id="webhook"
            name="webhookUrl"
            type="url"
            autoComplete="off"
            placeholder="https://"
            maxLength={2_000}
            required
            aria-invalid={trouble !== null}
            aria-describedby="chat-hint"
          />
          <button>{language.say("subscribe")}</button>
        </div>
        {trouble === null ? (
          <p className="hint" id="chat-hint">
            {language.say("chatHint")}
          </p>
        ) : (
          <p className="trouble" id="chat-hint" role="alert">
            {trouble}
          </p>
        )}
      </form>
    </section>
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
