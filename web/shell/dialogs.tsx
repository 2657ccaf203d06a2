import { lazy, Suspense } from "react";
import { opening } from "../pages/incidents/opening.ts";
import { editing } from "../pages/monitors/editing.ts";
import { planning } from "../pages/maintenance/planning.ts";

const Editors = lazy(() => import("../pages/monitors/editors.tsx"));
const OpenIncident = lazy(() => import("../pages/incidents/open-incident.tsx"));
const WindowEditor = lazy(() => import("../pages/maintenance/window-editor.tsx"));

/** Editors that lie over whatever page is open; loaded when first needed. */
export function Dialogs() {
  const isEditing = editing.use() !== null;
  const isOpening = opening.use() !== null;
  const isPlanning = planning.use() !== null;
  return (
    <Suspense>
      {isEditing && <Editors />}
      {isOpening && <OpenIncident />}
      {isPlanning && <WindowEditor />}
    </Suspense>
  );
}
