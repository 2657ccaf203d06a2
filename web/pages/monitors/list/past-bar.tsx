import { Button } from "@mantine/core";
import { hourMs } from "../../../../src/core/time/clock.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { useNow } from "../../../components/display/time.tsx";
import { PastTimeChip } from "../../../components/forms/date-time-field.tsx";
import { t } from "../../../language/text.ts";

/** The bar of a page that shows a past time. */
export function PastBar({
  at,
  onChange,
}: {
  at: string;
  /** Undefined returns to now. */
  onChange: (at: string | undefined) => void;
}) {
  const now = useNow();
  const atMs = Date.parse(at);
  const show = (ms: number) => onChange(new Date(ms).toISOString());
  return (
    <section className="past-bar" aria-label={t("Past time")}>
      <Icon name="clock" size={16} />
      <PastTimeChip label={t("As of")} at={atMs} onChange={show} />
      <button
        type="button"
        className="span-step span-earlier"
        aria-label={t("1 hour earlier")}
        onClick={() => show(atMs - hourMs)}
      >
        <Icon name="right" size={15} />
      </button>
      <button
        type="button"
        className="span-step"
        aria-label={t("1 hour later")}
        disabled={atMs + hourMs > now}
        onClick={() => show(atMs + hourMs)}
      >
        <Icon name="right" size={15} />
      </button>
      <Button size="compact-sm" className="ml-auto" onClick={() => onChange(undefined)}>
        {t("Back to now")}
      </Button>
    </section>
  );
}
