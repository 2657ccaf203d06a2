/** The path of a file that the executable holds. */
declare module "*.woff" {
  const path: string;
  export default path;
}
