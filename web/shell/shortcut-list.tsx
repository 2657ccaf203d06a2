/** All shortcuts, the content of a dialog. */
import { Link } from "@tanstack/react-router";
import { KeyHint } from "../components/page.tsx";
import { singleKeys } from "../components/shortcuts.ts";
import { useNavigationItems } from "./navigation-items.ts";

type Section = { title: string; keys: [keys: string, does: string][] };

const pageSections: Section[] = [
  {
    title: "Lists",
    keys: [
      ["↑ ↓", "Next or previous row, also J and K"],
      ["Enter", "Open"],
      ["N", "Create"],
    ],
  },
  {
    title: "Monitors",
    keys: [
      ["/", "Search"],
      ["Enter", "Collapse or expand a group"],
      ["X", "Select, also the row under the pointer"],
      ["P", "Pause or resume"],
      ["M", "Mute or unmute"],
      ["E", "Edit"],
      ["Alt ↑ ↓", "Move up or down, also into the next group"],
    ],
  },
  {
    title: "An alert channel",
    keys: [
      ["T", "Send test"],
      ["E", "Edit"],
    ],
  },
  {
    title: "A monitor",
    keys: [
      ["C", "Check now"],
      ["P", "Pause or resume"],
      ["E", "Edit"],
    ],
  },
  {
    title: "Incidents and maintenance",
    keys: [
      ["/", "Search"],
      ["U", "Write an update"],
      ["modEnter", "Post update"],
      ["V", "Preview the public page"],
      ["E", "Edit"],
    ],
  },
];

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const pages = useNavigationItems().map(({ label, keys }): [string, string] => [
    keys.toUpperCase(),
    `Go to ${label}`,
  ]);
  const everywhere: Section = {
    title: "Everywhere",
    keys: [["modK", "Search and commands"], ["modZ", "Undo"], ["?", "Shortcuts"], ...pages],
  };
  return (
    <>
      <p className="field-note mb-14">
        {singleKeys.use() ? "" : "Shortcuts without Ctrl or ⌘ are off in this browser. "}
        <Link
          className="link"
          to="/settings/$section"
          params={{ section: "profile" }}
          onClick={onClose}
        >
          {singleKeys.use() ? "Turn off single-key shortcuts" : "Turn them on"}
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
