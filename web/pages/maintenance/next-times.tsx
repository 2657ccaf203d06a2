import {
  validateTimes,
  occurrencesBetween,
  type Times,
} from "../../../src/monitoring/maintenance/rules.ts";
import { useZone } from "../../components/time.tsx";
import { spanInWords } from "./words.tsx";

const yearsMs = 50 * 366 * 86_400_000;

/** When a window holds from now on, told in the organization's time zone. */
export function NextTimes({ times, count }: { times: Times | null; count: number }) {
  const zone = useZone();
  if (times === null) return null;
  const issue = validateTimes(times);
  if (issue !== null) return null;
  const now = Date.now();
  const found = occurrencesBetween(times, now, now + yearsMs, count + 1);
  if (found.length === 0) return <p className="field-note">That is in the past.</p>;
  return (
    <ol className="next-times" aria-label="Next times">
      {found.slice(0, count).map(({ start, end }) => (
        <li key={start} className="num">
          {spanInWords(start, end, zone)}
          {start <= now && <span className="maintenance"> now</span>}
        </li>
      ))}
      {found.length > count && <li className="faint">and so on</li>}
    </ol>
  );
}
