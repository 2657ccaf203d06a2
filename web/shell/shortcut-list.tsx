/** All shortcuts, the content of a dialog. */
import { Link } from "@tanstack/react-router";
import { KeyHint } from "../components/page.tsx";
import { singleKeys } from "../components/shortcuts.ts";
import { useNavigationItems } from "./navigation-items.ts";
import { t } from "../language/text.ts";

type Section = { title: string; keys: [keys: string, does: string][] };

const pageSections: Section[] = [
  {
    title: t("Lists"),
    keys: [
      ["↑ ↓", t("Next or previous row, also J and K")],
      ["Enter", t("Open")],
      ["N", t("Create")],
    ],
  },
  {
    title: t("Monitors"),
    keys: [
      ["/", t("Search")],
      ["Enter", t("Collapse or expand a group")],
      ["X", t("Select, also the row under the pointer")],
      ["P", t("Pause or resume")],
      ["M", t("Mute or unmute")],
      ["E", t("Edit")],
      [t("Alt ↑ ↓"), t("Move up or down, also into the next group")],
    ],
  },
  {
    title: t("An alert channel"),
    keys: [
      ["T", t("Send test")],
      ["E", t("Edit")],
    ],
  },
  {
    title: t("A monitor"),
    keys: [
      ["C", t("Check now")],
      ["P", t("Pause or resume")],
      ["E", t("Edit")],
    ],
  },
  {
    title: t("Incidents and maintenance"),
    keys: [
      ["/", t("Search")],
      ["U", t("Write an update")],
      ["modEnter", t("Post update")],
      ["V", t("Preview the public page")],
      ["E", t("Edit")],
    ],
  },
];

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const pages = useNavigationItems().map(({ label, keys }): [string, string] => [
    keys.toUpperCase(),
    t("Go to {label}", { label }),
  ]);
  const everywhere: Section = {
    title: t("Everywhere"),
    keys: [
      ["modK", t("Search and commands")],
      ["modZ", t("Undo")],
      ["?", t("Shortcuts")],
      ...pages,
    ],
  };
  return (
    <>
      <p className="field-note mb-14">
        {singleKeys.use() ? "" : t("Shortcuts without Ctrl or ⌘ are off in this browser. ")}
        <Link
          className="link"
          to="/settings/$section"
          params={{ section: "profile" }}
          onClick={onClose}
        >
          {singleKeys.use() ? t("Turn off single-key shortcuts") : t("Turn them on")}
        </Link>
      </p>
      <div className="sheet">
        {[everywhere, ...pageSections].map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>{does}</dt>
                  <dd>
                    <KeyHint keys={key} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </>
  );
}
