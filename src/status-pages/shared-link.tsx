import type { IncidentView } from "./rendering/view.ts";
import type { WordsOf } from "./rendering/words.ts";

type SharedProps = { title: string; incident: IncidentView; words: WordsOf; url: string };

/** What chats and networks show of a link to it: https://ogp.me */
export function SharedLink({
  title,
  incident: { id, summary, updates, ...incident },
  words,
  url,
}: SharedProps) {
  const status = updates[0]?.status ?? "";
  // Another address for another status: who has the image keeps it.
  const image = `${url}/incidents/${id}/image.png?v=${status.toLowerCase()}`;
  const properties = {
    type: "article",
    site_name: title,
    title: incident.title,
    description: `${status}: ${words(summary).text}`.slice(0, 300),
    url: `${url}/incidents/${id}`,
    image,
    "image:type": "image/png",
    "image:width": "1200",
    "image:height": "630",
    "image:alt": `${incident.title}: ${incident.severity}, ${status}`,
  };
  return (
    <>
      {Object.entries(properties).map(([name, content]) => (
        <meta key={name} property={`og:${name}`} content={content} />
      ))}
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}
