/** Buttons to page through lists, and through the periods of a calendar. */
import { formatCount } from "./display/format.ts";
import { Icon } from "./display/icons.tsx";
import { ActionIcon, Button } from "@mantine/core";
import type { PageRequest } from "../../src/core/paging.ts";
import { t, tNode } from "../language/text.ts";

/** Page number and size, and the total number of entries. */
export type Meta = PageRequest & { total: number };

/**
 * Shows `21–40 of 130` with links to the adjacent pages. Renders nothing if all entries fit on one
 * page.
 */
export function Pager({ meta, onPage }: { meta: Meta; onPage: (page: number) => void }) {
  const { page, per_page, total } = meta;
  if (total <= per_page && page === 1) return null;
  const first = (page - 1) * per_page + 1;
  const last = Math.min(page * per_page, total);
  return (
    <nav className="pager" aria-label={t("Pages")}>
      <span className="num">
        {tNode("{range} of {total}", {
          range: first <= last ? `${first}–${last}` : t("None"),
          total: formatCount(total),
        })}
      </span>
      <Button size="xs" disabled={page === 1} onClick={() => onPage(page - 1)}>
        {t("Newer")}
      </Button>
      <Button size="xs" disabled={last >= total} onClick={() => onPage(page + 1)}>
        {t("Older")}
      </Button>
    </nav>
  );
}

/** Buttons of a calendar for the previous, the present and the next period. */
export const PeriodButtons = ({
  period,
  isNow,
  onToday,
  onMove,
}: {
  /** In words, such as `month`. */
  period: string;
  isNow: boolean;
  onToday: () => void;
  onMove: (by: -1 | 1) => void;
}) => (
  <>
    {!isNow && (
      <Button size="xs" onClick={onToday}>
        {t("Today")}
      </Button>
    )}
    <ActionIcon
      variant="default"
      size={30}
      aria-label={t("Previous {period}", { period })}
      onClick={() => onMove(-1)}
    >
      <span className="flex rotate-180">
        <Icon name="right" size={14} />
      </span>
    </ActionIcon>
    <ActionIcon
      variant="default"
      size={30}
      aria-label={t("Next {period}", { period })}
      onClick={() => onMove(1)}
    >
      <Icon name="right" size={14} />
    </ActionIcon>
  </>
);
