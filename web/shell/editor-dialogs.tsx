import { lazy, Suspense } from "react";
import { createChunk } from "../data/chunks.ts";
import { closeDialog, type Dialog, openDialog, useDialog } from "../components/open-dialog.ts";

const MonitorDialog = lazy(
  createChunk(() => import("../pages/monitors/editor/monitor-editor.tsx")),
);
const BulkDialog = lazy(createChunk(() => import("../pages/monitors/editor/bulk-editor.tsx")));
const GroupDialog = lazy(createChunk(() => import("../pages/monitors/editor/group-editor.tsx")));
const CreateChannel = lazy(createChunk(() => import("../pages/alert-channels/create-channel.tsx")));
const CreateIncident = lazy(createChunk(() => import("../pages/incidents/create-incident.tsx")));
const ScheduleDialog = lazy(createChunk(() => import("../pages/on-call/schedule-editor.tsx")));
const PolicyDialog = lazy(createChunk(() => import("../pages/on-call/policy-editor.tsx")));
const SourceDialog = lazy(createChunk(() => import("../pages/alert-sources/source-editor.tsx")));
const SignOutDialog = lazy(createChunk(() => import("./sign-out-dialog.tsx")));
const MaintenanceDialog = lazy(createChunk(() => import("../pages/maintenance/window-editor.tsx")));

/** The open editor dialog, on top of any page. Its script loads when first needed. */
export function Dialogs() {
  const dialog = useDialog();
  return <Suspense>{dialog !== null && renderEditor(dialog)}</Suspense>;
}

function renderEditor(dialog: Dialog) {
  switch (dialog.kind) {
    case "create-monitor":
    case "edit-monitor":
      return <MonitorDialog edited={dialog} />;
    case "change-monitors":
      return <BulkDialog edit={dialog} />;
    case "create-group":
    case "edit-group":
      return <GroupDialog edited={dialog} />;
    case "create-channel":
      return (
        <CreateChannel
          chosen={dialog.type}
          onChoose={(type) => openDialog({ kind: "create-channel", type })}
          onClose={closeDialog}
        />
      );
    case "create-incident":
      return <CreateIncident initial={dialog} />;
    case "create-schedule":
    case "edit-schedule":
      return <ScheduleDialog edited={dialog} />;
    case "create-policy":
    case "edit-policy":
      return <PolicyDialog edited={dialog} />;
    case "create-source":
    case "edit-source":
      return <SourceDialog edited={dialog} />;
    case "sign-out":
      return <SignOutDialog />;
    default:
      return <MaintenanceDialog edited={dialog} />;
  }
}
