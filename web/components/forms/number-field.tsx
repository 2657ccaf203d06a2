import { NumberInput, type NumberInputProps } from "@mantine/core";
import { useState } from "react";

type NumberFieldProps = Omit<NumberInputProps, "value" | "onChange" | "onBlur"> & {
  value: number;
  onChange: (value: number) => void;
};

/** A number that is always there: emptied, it is 0, but what is typed next doesn't come beside a zero. */
export function NumberField({ value, onChange, ...props }: NumberFieldProps) {
  const [isEmpty, setIsEmpty] = useState(false);
  return (
    <NumberInput
      {...props}
      value={isEmpty ? "" : value}
      onChange={(next) => {
        setIsEmpty(next === "");
        onChange(Number(next));
      }}
      onBlur={() => setIsEmpty(false)}
    />
  );
}
