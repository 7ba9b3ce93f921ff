import { code, date, int, numberWithin, part, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const spanish: Schema = {
  name: "spanish",
  about: "id_cliente, cod_producto, plurals, self references",
  tables: {
    clientes: { rows: 85, columns: { id_cliente: serial(), nombre: words(), ciudad: words(1) } },
    vendedores: {
      rows: 12,
      columns: {
        id_vendedor: serial(),
        nombre: words(),
        id_jefe: to("vendedores.id_vendedor", { nulls: 0.2 }),
        antiguedad: int(1, 12),
      },
    },
    categorias: { rows: 7, columns: { cod_categoria: code("AA#"), descripcion: title() } },
    productos: {
      rows: 130,
      columns: {
        cod_producto: code("P####"),
        descripcion: title(),
        categoria: to("categorias.cod_categoria", { type: "TEXT" }),
        existencias: int(0, 80),
      },
    },
    pedidos: {
      rows: 310,
      columns: {
        num_pedido: serial(),
        id_cliente: to("clientes.id_cliente"),
        vendedor: to("vendedores.id_vendedor"),
        fecha: date(),
        estado: int(1, 4),
        anio: year(),
      },
    },
    lineas_pedido: {
      rows: 800,
      columns: {
        num_pedido: to("pedidos.num_pedido"),
        num_linea: numberWithin("num_pedido", "lineas_pedido"),
        cod_producto: to("productos.cod_producto", { type: "TEXT" }),
        cantidad: int(1, 12),
      },
      key: ["num_pedido", "num_linea"],
    },
    devoluciones: {
      rows: 120,
      columns: {
        id_devolucion: serial(),
        num_pedido: part("lineas_pedido.num_pedido"),
        num_linea: part("lineas_pedido.num_linea"),
        motivo: words(3),
      },
      composite: [
        { columns: ["num_pedido", "num_linea"], to: "lineas_pedido", toColumns: ["num_pedido", "num_linea"] },
      ],
    },
  },
};
