/** The toolbar of the selected monitors. Each change is previewed in a dialog first. */
import { ActionIcon, Button, Menu } from "@mantine/core";
import { useState } from "react";
import { isLimitedToGroups } from "../../../data/session.ts";
import { listKnownMonitors, type Overview } from "../../../data/overview.ts";
import { type Dialog, openDialog } from "../../../components/open-dialog.ts";
import { formatCount } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { MenuItem } from "../../../components/menus.tsx";
import { useAction } from "../../../components/toasts.tsx";
import { countMatching, listMatching, maxSelectedMonitors } from "../bulk.ts";
import type { Filters } from "./filters.ts";
import { selection } from "./list-state.ts";
import { t, tCount } from "../../../language/text.ts";

type Change = Extract<Dialog, { kind: "change-monitors" }>["change"];

export default function BulkBar({
  overview,
  found = overview,
  filters,
}: {
  overview: Overview;
  /** Monitors that the server found, if the page is filtered. */
  found?: Overview | undefined;
  filters: Filters;
}) {
  const selected = selection.use();
  if (selected.size === 0) return null;
  const monitorIds = [...selected];
  const known = [...listKnownMonitors(overview), ...listKnownMonitors(found)];
  const chosen = known.filter(({ id }) => selected.has(id));
  // The buttons offer the action that some of the monitors need. Its opposite is in the menu.
  const isPaused = chosen.length > 0 && chosen.every(({ paused }) => paused);
  const isMuted = chosen.length > 0 && chosen.every(({ muted }) => muted);
  const open = (change?: Change) =>
    openDialog({ kind: "change-monitors", monitorIds, ...(change !== undefined && { change }) });
  return (
    <div className="bulk" role="toolbar" aria-label={t("Change the selected monitors")}>
      <span className="bulk-count">
        <span aria-live="polite">
          {tCount(selected.size, "{count} monitor selected", "{count} monitors selected")}
        </span>
        <SelectAll found={found} filters={filters} selected={selected} />
      </span>
      <BarButton onClick={() => open()}>{t("Edit")}</BarButton>
      <BarButton onClick={() => open({ paused: !isPaused })}>
        {isPaused ? t("Resume") : t("Pause")}
      </BarButton>
      <BarButton onClick={() => open({ muted: !isMuted })}>
        {isMuted ? t("Unmute") : t("Mute")}
      </BarButton>
      <MoreMenu monitorIds={monitorIds} open={open} />
      <Button size="xs" color="red" variant="subtle" onClick={() => open("delete")}>
        {t("Delete")}
      </Button>
      <ActionIcon aria-label={t("Clear selection")} onClick={selection.clear}>
        <Icon name="close" />
      </ActionIcon>
    </div>
  );
}

const BarButton = (props: { onClick?: () => void; children: string }) => (
  <Button size="xs" variant="subtle" color="gray" {...props} />
);

/** Selects all monitors that match the filters, in folded groups too. */
function SelectAll({
  found,
  filters,
  selected,
}: {
  found: Overview;
  filters: Filters;
  selected: ReadonlySet<string>;
}) {
  const total = countMatching(found, filters);
  const all = useAction(async () => {
    selection.set((await listMatching(filters)).slice(0, maxSelectedMonitors));
  });
  const wantedCount = Math.min(total, maxSelectedMonitors);
  if (selected.size >= wantedCount) return null;
  return (
    <button type="button" className="plain-button link" disabled={all.isPending} onClick={all.run}>
      {total > maxSelectedMonitors
        ? t("Select the first {count}", { count: formatCount(maxSelectedMonitors) })
        : t("Select all {count}", { count: formatCount(total) })}
    </button>
  );
}

/** Maximum number of monitors of an incident, and of a form that lists each one. */
const maxListed = 100;

function MoreMenu({ monitorIds, open }: { monitorIds: string[]; open: (change: Change) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const isTooMany = monitorIds.length > maxListed;
  const selection = { monitorIds };
  return (
    <Menu position="top" floatingStrategy="fixed" opened={isOpen} onChange={setIsOpen}>
      <Menu.Target>
        <Button size="xs" variant="subtle" color="gray">
          {t("More")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="menu-scroll">
        <MenuItem icon="play" onClick={() => open({ paused: false })}>
          {t("Resume")}
        </MenuItem>
        <MenuItem icon="sound" onClick={() => open({ muted: false })}>
          {t("Unmute")}
        </MenuItem>
        <Menu.Divider />
        {isTooMany && (
          <Menu.Label>
            {tCount(maxListed, "With at most {count} monitor", "With at most {count} monitors")}
          </Menu.Label>
        )}
        <MenuItem
          icon="warning"
          disabled={isTooMany}
          onClick={() => openDialog({ kind: "create-incident", ...selection })}
        >
          {t("Create incident")}
        </MenuItem>
        <MenuItem
          icon="calendar"
          disabled={isTooMany}
          onClick={() => openDialog({ kind: "plan-maintenance", ...selection })}
        >
          {t("Schedule maintenance")}
        </MenuItem>
        <MenuItem
          icon="mute"
          disabled={isTooMany}
          onClick={() => openDialog({ kind: "plan-maintenance", ...selection, isQuiet: true })}
        >
          {t("Hold alerts until…")}
        </MenuItem>
        {!isLimitedToGroups() && (
          <>
            <Menu.Divider />
            <MenuItem
              icon="folder"
              onClick={() => openDialog({ kind: "create-group", ...selection })}
            >
              {t("Create group from selection")}
            </MenuItem>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
