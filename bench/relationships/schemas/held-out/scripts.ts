import { date, int, money, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const scripts: Schema = {
  name: "scripts",
  about: "Russian and Japanese names",
  tables: {
    клиенты: { rows: 70, columns: { код: serial(), имя: words(), город: words(1) } },
    товары: { rows: 45, columns: { код: serial(), название: title(), цена: money() } },
    сотрудники: { rows: 15, columns: { код: serial(), имя: words(), начальник: to("сотрудники.код", { nulls: 0.2 }) } },
    заказы: {
      rows: 260,
      columns: {
        номер: serial(),
        код_клиента: to("клиенты.код"),
        код_сотрудника: to("сотрудники.код"),
        дата: date(),
        сумма: money(),
      },
    },
    строки_заказа: {
      rows: 700,
      columns: { номер_заказа: to("заказы.номер"), код_товара: to("товары.код"), количество: int(1, 15) },
      key: ["номер_заказа", "код_товара"],
    },
    部門: { rows: 8, columns: { 部門ID: serial(), 部門名: title() } },
    社員: {
      rows: 55,
      columns: {
        社員番号: serial(),
        氏名: words(),
        部門ID: to("部門.部門ID"),
        上司番号: to("社員.社員番号", { nulls: 0.2 }),
        年齢: int(20, 64),
      },
    },
    勤怠: { rows: 400, columns: { id: serial(), 社員番号: to("社員.社員番号"), 日付: date(), 時間: int(1, 12) } },
  },
};
