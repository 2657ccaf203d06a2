import { lazy, Suspense } from "react";
import { opening } from "../pages/incidents/opening.ts";
import { planning } from "../pages/maintenance/planning.ts";

const OpenIncident = lazy(() => import("../pages/incidents/open-incident.tsx"));
const WindowEditor = lazy(() => import("../pages/maintenance/window-editor.tsx"));

/** Editors that lie over whatever page is open; loaded when first needed. */
export function Dialogs() {
  const isOpening = opening.use() !== null;
  const isPlanning = planning.use() !== null;
  return (
    <Suspense>
      {isOpening && <OpenIncident />}
      {isPlanning && <WindowEditor />}
    </Suspense>
  );
}
