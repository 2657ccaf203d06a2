/** A table of a report, sorted by any of its columns. On narrow screens each row is a card with all columns. */
import { Button } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { Panel } from "../../components/page.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { formatCount } from "../../components/display/format.ts";
import { t } from "../../language/text.ts";
import { sortRows, type Sorting } from "./sorting.ts";

/** Rows of a table that are shown at first. */
const firstRows = 15;
/** A table with only a few more rows than that shows them all. */
const fewMore = 5;

export type Column<T> = {
  head: string;
  /** Value to sort by; null sorts last. */
  value: (row: T) => string | number | null;
  cell: (row: T) => ReactNode;
  className?: string;
};

export function Table<T>({
  title,
  rows,
  idOf,
  name,
  columns,
}: {
  title: string;
  rows: readonly T[];
  idOf: (row: T) => string;
  /** The first column, which names the row. */
  name: Column<T>;
  columns: readonly Column<T>[];
}) {
  const [sorting, setSorting] = useState<Sorting>(null);
  const all = [name, ...columns];
  const by = all.find(({ head }) => head === sorting?.head);
  const sorted = by === undefined ? rows : sortRows(rows, by.value, sorting?.isDescending === true);
  const { shown, showAll } = useFirstRows(sorted);
  return (
    <Panel title={title} isFlush className="report-table">
      <div className="report-scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              {all.map(({ head, className }) => (
                <Head
                  key={head}
                  head={head}
                  className={className}
                  sorting={sorting}
                  onSort={setSorting}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={idOf(row)} data-item>
                <th scope="row">{name.cell(row)}</th>
                {columns.map(({ head, cell, className }) => (
                  <td key={head} data-head={head} className={className}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < sorted.length && (
        <Button variant="subtle" fullWidth className="report-more" onClick={showAll}>
          {t("Show all {count}", { count: formatCount(sorted.length) })}
        </Button>
      )}
    </Panel>
  );
}

/** Limits a long table to its first rows, until the person wants all or prints them. */
function useFirstRows<T>(rows: readonly T[]): { shown: readonly T[]; showAll: () => void } {
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    const showForPrint = () => flushSync(() => setWhole(true));
    addEventListener("beforeprint", showForPrint);
    return () => removeEventListener("beforeprint", showForPrint);
  }, []);
  const isShort = rows.length <= firstRows + fewMore;
  return {
    shown: isWhole || isShort ? rows : rows.slice(0, firstRows),
    showAll: () => setWhole(true),
  };
}

/** A column's header. The first click sorts in the useful direction, the second reverses, the third restores. */
function Head({
  head,
  className,
  sorting,
  onSort,
}: {
  head: string;
  className: string | undefined;
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
}) {
  const isSorted = sorting?.head === head;
  const next = !isSorted
    ? { head, isDescending: true }
    : sorting.isDescending
      ? { head, isDescending: false }
      : null;
  return (
    <th
      scope="col"
      className={className}
      {...(isSorted && { "aria-sort": sorting.isDescending ? "descending" : "ascending" })}
    >
      <button type="button" className="report-sort" onClick={() => onSort(next)}>
        {head}
        {isSorted && (
          <span className={sorting.isDescending ? "report-arrow" : "report-arrow report-up"}>
            <Icon name="right" size={12} />
          </span>
        )}
      </button>
    </th>
  );
}
