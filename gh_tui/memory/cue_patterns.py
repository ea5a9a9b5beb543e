"""The patterns that a summary looks for: phrases, figures, and the scripts without blanks.

All but `NUMBER`, `PATH`, `NAME`, `REPORT` and `COUNT_ONLY` are for text in lower case; punctuation
of full width has become plain. How they are matched is in `gh_tui.memory.cues`. An alternative
begins with a plain character wherever it can, which is what makes the search for many quick.
"""

from __future__ import annotations

import re
from typing import Final


def _any(*lists: str, after: str = "") -> re.Pattern[str]:
    """Any of the alternatives, which white space separates, with what has to come after it."""
    alternatives = "|".join(" ".join(lists).split())
    return re.compile(f"(?:{alternatives}){after}" if after else alternatives)


FAILURE_PHRASE: Final = re.compile(
    r"\b(?:time[d]?[ -]out|no such|core dumped|stack overflow|segmentation|reset by|gave up|"
    r"out of (?:memory|space|disk|range|bounds)|(?:is|are|was|were|went|goes|still) down|"
    r"rolled back|(?:disk|drive|volume|queue|storage) (?:is |was )?full|habis waktu|waktu habis|"
    r"(?:disk|diska|cakram|memori|penyimpanan|antrean|kuota)(?:nya)? penuh)\b",
    re.ASCII,
)
COMMAND_PHRASE: Final = re.compile(
    r"\b(?:(?:have|has|had|got) to|gotta|supposed to|make sure|at (?:least|most)|no later than|"
    r"(?:want|like|expect) (?:you|it|them|this|that|the)|let us|(?:you|we|they|it)'d better|"
    r"rather than|off[- ]limits)\b",
    re.ASCII,
)
HARMLESS: Final = re.compile(
    r"(?<![\w.])(?:no|0|zero|nol|tanpa|tidak ada|without(?: any)?|0 of \d+) (?:\w+ )?"
    r"(?:errors?|fail(?:ed|ures?|s|ing)?|crash(?:es|ed)?|exceptions?|conflicts?|regressions?|"
    r"mismatch(?:es)?|missing|kesalahan|galat|kegagalan|masalah|gagal|eror)\b|"
    r"\b(?:fail(?:ed|ures?|s)?|errors?|crashes|gagal|galat)[\"']?\s?[:=]\s?"
    r"(?:0|none|null|false|\"\"|\[\])(?![\w.])|"
    r"\bfail[ -]?(?:fast|over|safe|2ban)\b|\berror[ -](?:handl\w+|free|code 0|page|budget)\b|"
    r"\b(?:not|never|tidak|tak|nggak|gak|\w+n't) (?:fail(?:ed)?|crash(?:ed)?|break|gagal|error|"
    r"macet|rusak|mogok)\b|"
    r"\bsalah (?:satu|se\w+)\b|"
    "没有?(?:任何)?(?:错误|失败|异常|报错|冲突|故障)|无(?:错误|异常|报错|故障)|"
    r"(?<![\d.])[0零] ?[个次项]?(?:错误|失败|异常|报错)|(?:错误|失败|异常)[数:]*\s?0(?![\d.])|"
    "未(?:发现|出现)(?:任何)?(?:错误|异常|故障)",
    re.ASCII,
)
"""What speaks of failures and tells of none."""
REPORT: Final = re.compile(
    r"\b(?:FATAL|ERROR|FAILED|FAIL|FAILURE|CRITICAL|PANIC|SEVERE|EMERG)\b|Traceback \(|"
    r"\b(?i:error|fatal|panic|failed|failure|critical|exception|gagal|galat|kesalahan|eror)"
    r"(?:\[\w+\]|\([\w ]+\))?[\"']?:\s*\S|\b\w{1,40}(?:Error|Exception|Exit|Interrupt): \S|"
    r"\b(?i:panicked at|segmentation fault|core dumped|command not found|permission denied|"
    r"no such file|out of memory|connection refused|timed out)\b|"
    "(?:错误|失败|异常|故障|报错):",
    re.ASCII,
)
"""How output says what failed."""
COUNT_ONLY: Final = re.compile(
    r"^\W*(?:found |total:? )?\d+ (?:\w+ )?(?:failed|errors?|failures?)\b|^test result:|"
    r"\bdue to \d+ previous errors?|^make(?:\[\d+\])?: \*\*\*|^npm (?:ERR!|error) (?:A complete|$)|"
    r"\bcould not compile\b|\bto rerun pass\b",
    re.IGNORECASE | re.ASCII,
)
"""How output closes after that: it only counts, or points to what stands above."""

NUMBER: Final = re.compile(
    r"(?<![\w.])[-+]?\d[\d.,:/%-]*\w*|\bv\d+(?:\.\d+)+\w*",
    re.ASCII,
)
PATH: Final = re.compile(
    r"(?<![\w./-])(?:[\w.-]*/)+[\w.-]+|(?<![\w-])[\w-]+\.[A-Za-z]\w{0,5}\b|"
    r"\b[A-Za-z]:\\\S+|://\S+",
    re.ASCII,
)
NAME: Final = re.compile(
    r"`[^`]+`|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b|\b[A-Z]{2,}\b|"
    r"\b[A-Za-z]+\d\w*|(?<![\w-])--?[a-z][\w-]+",
    re.ASCII,
)

EAST_FAILURE: Final = _any(
    """
    错误 失败 异常 无法 拒绝 超时 找不到 不存在 崩溃 无效 报错 出错 出问题 出了问题 故障 挂了 挂掉
    卡死 卡住 卡在 卡纸 卡了 死机 宕机 当机 闪退 中断 断开 断线 断了 断电 断网 掉线 停电 停摆 停机
    停了(?<![雨雪风]停了) 丢失 丢了 丢包 损坏 损毁 坏了(?<![乐累忙饿吓]坏了) 坏掉 受损 过期 失效
    失灵 失联 失控 失误 溢出 泄漏 泄露 冲突 死锁 死循环 阻塞 堵塞 堵了 瘫痪 写满 占满 存满 盘满了
    存满了 间满了 列满了 池满了 耗尽 用尽 爆满 爆了(?<!火爆了) 爆掉 爆炸 炸了 崩了 崩掉 垮了 被杀
    被拒 被[^,。]{0,6}重置 终止 打不开 连不上 起不来 跑不通 跑不起 登不上 进不去 对不上 越界
    空指针 乱码 缺失 缺少 缺陷 漏了 漏洞 遗漏 误删 误报 不可用 不兼容 不匹配 不足 未找到 未通过
    没通过 没反应 驳回 退回 收回 黑屏 白屏 蓝屏 烧了 烧毁 短路 告警 报警 警报 超限 超载 过载 搞砸
    作废 落空 白跑 红了 非零 时好时坏 空白
    """,
    "エラー 失敗 クラッシュ タイムアウト 落ち 壊れ",
    "ผิดพลาด ล้มเหลว ขัดข้อง พัง หมดอายุ ค้าง",
)
EAST_NEGATION: Final = _any(
    """
    不(?!过(?![关去])|错(?!开)|仅|但|久|少(?![了于])|断|禁|由得|约而同|好意思|客气|知不觉|亦乐乎)(?<!差不)(?<!了不)(?<!无不)
    没(?<![埋沉淹出]没)(?!收|落)
    无(?!论|不|聊|比|数|穷|限|线|辜|声|边|疑|意中|所谓|花果|缘无故|微不至) 未(?!来|婚|免|央)
    别(?<![特分区级类性个告识派辨判鉴离道差国送惜临]别)(?![人的墅致名样处针扭称])
    別(?<![特分区級個告識離差送]別)(?![人的荘々]) 莫(?=[要动让忘再急怪用把将])
    除(?=[^,。去了]{1,12}?外) 勿 切莫 毋 甭 休想 禁止 禁用 严禁 杜绝 谢绝 停用 并非 绝非 除非 非法
    非必要 若非 除了 以免 免得 省得
    """,
    "ない ません なし ずに",
    "ไม่ ห้าม อย่า ยกเว้น",
)
EAST_OBLIGATION: Final = _any(
    """
    必须 必需 务必 务请 务须 应该 应当 应(?=[在于由先以为]) 须(?!臾) 需要 需(?=[在先由经])
    一定(?=[要得会]) 只(?=[能用许准可要]) 只有[^,。]{1,12}?[可才能] 仅(?=[限可能]) 从现在起 从今
    都得(?![到了知分意]) 还得 就得(?![到了])
    要(?=[写用按先把保加改查填备附带盖签核])(?<![我主重快想]要) 改用 改成 改为 改到 改回 换成 换为
    换用 替换 改名 更名 使用(?![过者率]) 确保 保证 记住 记得 记着 牢记 切记 谨记 总是 始终 决定
    一律 统一(?=[用使采]) 千万 注意(?![到力]) 尽量 尽快 尽早 最好(?![的吃看听玩喝]) 优先 避免 防止
    停止 暂停 取消 麻烦(?=[你您帮把大]) 帮我 要求 为准 代替 取代 规定 约定 商定 定为
    请(?<![邀申聘宴恳]请)(?![客教假帖柬求问])
    """,
    "ください 下さい べき 必ず せよ",
    "กรุณา ต้อง โปรด ควร จำเป็น",
)
EAST_NUMBER: Final = re.compile(
    "[〇零一二两三四五六七八九十百千万亿]{2,}(?<!万一)(?<!千万)(?<!一一)|百分之"
)
EAST_LEAD: Final = re.compile(
    r"(?:请|再|然后|接着|最后|并且?|也|都|就|还|马上|立刻|立即|赶[紧快]|现在|以后|今后|之后|同时|另外|首先|其次|"
    r"重新|全部|直接|你们?|您|[我咱]们|\s)+"
)
"""What may stand before a command."""
EAST_COMMAND: Final = _any(
    """
    把 将(?![来军近]) 用(?![户途完过品意力心餐]) 让(?![人我]) 给(?!人) 得(?![到了知意分])
    等.{1,15}?[再才] 先(?![生前进锋天后]) 按 查 填 签 换 改 跑 禁 删除 删掉 删去 去掉 去除 忘掉
    忘记 拿掉 扔掉 换掉 关闭 关掉 关停 停掉 停止 停用 启用 启动 打开 开启 重启 重装 重置 重跑 重试
    重做 重写 重建 重命名 运行 执行 安装 卸载 检查(?!结果|报告) 核对 修复 修改 修正 更新 更换 回滚
    回退 回复 回答 撤销 撤回 提交 合并 合上 推送 拉取 部署 发布(?!会) 上线 下线 上传 下载 备份
    清空 清理 清除 移动 移除 移到 移至 迁移 添加 增加 加上 加入 附上 补上 补充 补全 补齐 缩短 缩小
    缩减 减少 减小 扩大 扩展 扩充 新建 新增 创建 写成 写入 写上 保留 保持 保存 跳过 忽略 参考 参照
    按照 严格 遵守 遵循 联系 通知(?![书单栏]) 告诉 提醒 询问 确认 复制 复查 复核 粘贴 导入 导出
    解压 解锁 压缩 加密 锁定 锁上 归档 整理 翻译 总结 列出 生成 输出 打印 测试(?![组员]) 调整 调用
    限制 隐藏 显示 设为 设置 设成 标记 标注 拆分 拆成 排序 排除 筛选 统计 计算 比较 说明 解释 转成
    转为 转移 转发
    """,
    after="(?![了过])",
)
"""How a command begins."""
STATED: Final = re.compile(r"[了过呢吗]\s*[。!?]*\s*$|[很真挺]|十分|非常|特别|格外")
"""A sentence with it tells something, though it begins like a command."""
