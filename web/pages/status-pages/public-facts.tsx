import type { StatusPage } from "../../data/status-pages.ts";
import { useOverview } from "../../data/overview.ts";
import { Panel } from "../../components/page.tsx";
import { shownOn } from "./shown.ts";

/** What a page shows, for those who may not change it. */
export function PublicFacts({ page }: { page: StatusPage }) {
  const { data: overview } = useOverview();
  const shown = overview === undefined ? [] : shownOn(page.sections, overview);
  return (
    <Panel title="Shown on the page">
      {shown.length === 0 && <p className="quiet panel-none">No monitors yet.</p>}
      <ul className="lines">
        {shown.map(({ id, name, section }) => (
          <li key={id}>
            <span className="line-words">
              <b>{name}</b> {section}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
