/** Renders the page that offers updates by e-mail, chat, feed and calendar. */
import { BackLink, renderDocument, type PageDocument, Sentence } from "./layout.tsx";

/** Result of a sign-up; null before the form is submitted. */
export type SignUpResult = {
  email: string;
  error: string | null;
  /** The submitted form. */
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
  const plainDocument = { ...document, view: { ...view, page: { ...view.page, files } } };
  const isSent = result !== null && result.error === null;
  return renderDocument(
    plainDocument,
    `${language.translate("getUpdates")} – ${view.page.title}`,
    <>
      <BackLink {...document} />
      <h1 className="month">{language.translate("getUpdates")}</h1>
      <p className="about">{language.translate("subscribeIntro")}</p>
      {isSent ? (
        <ConfirmationSent result={result} document={document} />
      ) : (
        <>
          {takesMail && <SignUpForm medium="email" result={result} document={document} />}
          {takesChats && <SignUpForm medium="chat" result={result} document={document} />}
        </>
      )}
      <section className="sec way">
        <h2>{language.translate("byFeed")}</h2>
        <p className="feeds">
          <a href={to("/feed.rss")}>{language.translate("rssFeed")}</a>{" "}
          <a href={to("/feed.atom")}>{language.translate("atomFeed")}</a>{" "}
          <a href={to("/maintenance.ics")}>{language.translate("maintenanceCalendar")}</a>
        </p>
      </section>
    </>,
  );
}

function ConfirmationSent({ result, document: { language } }: FormProps) {
  const isChat = result?.medium === "chat";
  return (
    <section className="sec way" role="status">
      <h2>{language.translate(isChat ? "checkChannel" : "checkInbox")}</h2>
      <p>
        {isChat ? (
          language.translate("checkChannelText")
        ) : (
          <Sentence
            parts={language.split("checkInboxText", { email: <b dir="auto">{result?.email}</b> })}
          />
        )}
      </p>
    </section>
  );
}

type FormProps = { result: SignUpResult; document: PageDocument };

/** Words and input of the form for each medium. The webhook is never shown again, because it is a secret. */
const forms = {
  email: {
    title: "byEmail",
    label: "emailAddress",
    hint: "confirmHint",
    input: { name: "email", type: "email", autoComplete: "email", maxLength: 254 },
  },
  chat: {
    title: "byChat",
    label: "webhookAddress",
    hint: "chatHint",
    input: {
      name: "webhookUrl",
      type: "url",
      autoComplete: "off",
      placeholder: "https://",
      maxLength: 2_000,
    },
  },
} as const;

function SignUpForm({
  medium,
  result,
  document: { language, to },
}: FormProps & { medium: keyof typeof forms }) {
  const { title, label, hint, input } = forms[medium];
  const ownResult = result?.medium === medium ? result : null;
  const error = ownResult?.error ?? null;
  const noteId = `${medium}-note`;
  return (
    <section className="sec way">
      <h2>{language.translate(title)}</h2>
      <form method="post" action={to("/subscribe")}>
        <label htmlFor={medium}>{language.translate(label)}</label>
        <div className="ask">
          <input
            {...input}
            id={medium}
            dir="ltr"
            required
            defaultValue={ownResult?.email}
            aria-invalid={error !== null}
            aria-describedby={noteId}
          />
          <button>{language.translate("subscribe")}</button>
        </div>
        {error === null ? (
          <p className="hint" id={noteId}>
            {language.translate(hint)}
          </p>
        ) : (
          <p className="error" id={noteId} role="alert">
            {error}
          </p>
        )}
      </form>
    </section>
  );
}
