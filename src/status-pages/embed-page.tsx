import { renderToStaticMarkup } from "react-dom/server";
import { StateIcon } from "./icons.tsx";
import { DocumentHead, type PageDocument, writeRoot } from "./layout.tsx";

/** Open incidents in the widget. The page has all of them. */
const maxIncidents = 3;

/** Renders the widget: the headline and open incidents, with links to the page. It needs no script. */
export function renderEmbed(document: PageDocument): string {
  const { view, to } = document;
  const { page, headline, incidents } = view;
  const tab = { target: "_blank", rel: "noopener" };
  return `<!doctype html>${renderToStaticMarkup(
    <html {...writeRoot(document)}>
      <head>
        <DocumentHead document={document} title={page.title} />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        <meta httpEquiv="refresh" content="60" />
      </head>
      <body>
        <main className={`embed ${headline.tone}-soft`}>
          <StateIcon tone={headline.tone} size={22} />
          <div>
            <a href={to("")} {...tab}>
              <b dir="auto">{headline.text}</b>
            </a>
            {incidents.slice(0, maxIncidents).map(({ id, title, severity, tone }) => (
              <p key={id}>
                <span className={`sev ${tone}`}>{severity}</span>{" "}
                <a href={to(`/incidents/${id}`)} {...tab} dir="auto">
                  {title}
                </a>
              </p>
            ))}
          </div>
        </main>
      </body>
    </html>,
  )}`;
}
