import { useSignedIn } from "../../data/session.ts";
import { EmptyState } from "../../components/page.tsx";
import { Mark } from "../../components/mark.tsx";
import { QuickAdd } from "./quick-add-field.tsx";

/** The page before there is anything on it. */
export function FirstMonitor() {
  const { mayWrite } = useSignedIn();
  return (
    <section className="panel first">
      <EmptyState
        icon={<Mark state="up" size={36} />}
        title={mayWrite ? "What shall Signalbox watch?" : "Nothing is watched yet"}
        action={mayWrite && <QuickAdd />}
      >
        {mayWrite
          ? "Paste the address of something that matters: a shop, an intranet page, a router. It is checked at once and every minute from then on."
          : "As soon as somebody adds a monitor, it shows here."}
      </EmptyState>
    </section>
  );
}
