import { lazy, Suspense } from "react";
import { chunk } from "../data/chunks.ts";
import { closeDialog, type Dialog, openDialog, useDialog } from "../components/open-dialog.ts";

const MonitorDialog = lazy(chunk(() => import("../pages/monitors/editor/monitor-editor.tsx")));
const GroupDialog = lazy(chunk(() => import("../pages/monitors/editor/group-editor.tsx")));
const CreateChannel = lazy(chunk(() => import("../pages/alert-channels/create-channel.tsx")));
const CreateIncident = lazy(chunk(() => import("../pages/incidents/create-incident.tsx")));
const MaintenanceDialog = lazy(chunk(() => import("../pages/maintenance/window-editor.tsx")));

/** The open editor dialog, on top of any page. Its script loads when first needed. */
export function Dialogs() {
  const dialog = useDialog();
  return <Suspense>{dialog !== null && editorOf(dialog)}</Suspense>;
}

function editorOf(dialog: Dialog) {
  switch (dialog.kind) {
    case "create-monitor":
    case "edit-monitor":
      return <MonitorDialog what={dialog} />;
    case "create-group":
    case "edit-group":
      return <GroupDialog what={dialog} />;
    case "create-channel":
      return (
        <CreateChannel
          chosen={dialog.type}
          onChoose={(type) => openDialog({ kind: "create-channel", type })}
          onClose={closeDialog}
        />
      );
    case "create-incident":
      return <CreateIncident />;
    default:
      return <MaintenanceDialog what={dialog} />;
  }
}
