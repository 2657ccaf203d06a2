import { NumberInput, type NumberInputProps } from "@mantine/core";
import { useState } from "react";

type NumberFieldProps = Omit<NumberInputProps, "value" | "onChange" | "onBlur"> & {
  value: number;
  onChange: (value: number) => void;
};

/**
 * A number field that cannot be null. Empty counts as 0, but shows no zero while the person types.
 */
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
