/** An address without its keys, by which contexts of one kind can be grouped: `World.regions.cells`. */
export function placeIn(address: string): string {
  return address.replaceAll(/\((?:[^()"]|"(?:[^"\\]|\\.)*")*\)/g, "");
}
