"""The regression tables of the paper."""

from keras_vaf.datasets.catalogue import columns, files
from keras_vaf.datasets.catalogue.entry import Entry, Size, Source
from keras_vaf.datasets.catalogue.publishers import (
    TORGO,
    TORGO_CITATION,
    UCI,
    UCI_CITATION,
    UCI_LICENCE,
    UNKNOWN_LICENCE,
    text_source,
)
from keras_vaf.datasets.parsers import read_arff, read_workbook

ENERGY_SOURCES = (
    text_source(files.ENERGY_CSV, separator=","),
    Source(read_workbook, (files.ENERGY_WORKBOOK,)),
)
ENERGY_CITATION = (
    "A. Tsanas, A. Xifara, Accurate quantitative estimation of energy performance of "
    "residential buildings using statistical machine learning tools, Energy and "
    "Buildings 49, 2012"
)

REGRESSION = (
    Entry(
        name="cpu_small",
        paper_name="CPU-Small",
        size=Size(8192, 12),
        publisher=TORGO,
        licence=UNKNOWN_LICENCE,
        citation="Delve, University of Toronto (comp-activ). " + TORGO_CITATION,
        sources=(Source(read_arff, (files.CPU_SMALL,)),),
        target="usr",
        target_scaling="min-max",
    ),
    Entry(
        name="delta_elevators",
        paper_name="DeltaElevator",
        size=Size(9517, 6),
        publisher=TORGO,
        licence=UNKNOWN_LICENCE,
        citation="R. Camacho. " + TORGO_CITATION,
        sources=(Source(read_arff, (files.DELTA_ELEVATORS,)),),
        target="Se",
        target_scaling="none",
    ),
    Entry(
        name="elevators",
        paper_name="Elevators",
        size=Size(16599, 18),
        difference="The file's comment gives 8752 cases, as in one of two parts.",
        publisher=TORGO,
        licence=UNKNOWN_LICENCE,
        citation="R. Camacho. " + TORGO_CITATION,
        sources=(Source(read_arff, (files.ELEVATORS,)),),
        target="Goal",
        target_scaling="none",
    ),
    Entry(
        name="kin8nm",
        paper_name="Kinematics",
        size=Size(8192, 8),
        publisher=TORGO,
        licence=UNKNOWN_LICENCE,
        citation="Delve, University of Toronto (kin-8nm). " + TORGO_CITATION,
        sources=(Source(read_arff, (files.KIN8NM,)),),
        target="y",
        target_scaling="min-max",
    ),
    Entry(
        name="puma8nh",
        paper_name="Puma-8NH",
        size=Size(8192, 8),
        publisher=TORGO,
        licence=UNKNOWN_LICENCE,
        citation="Delve, University of Toronto (pumadyn-8nh). " + TORGO_CITATION,
        sources=(Source(read_arff, (files.PUMA8NH,)),),
        target="thetadd3",
        target_scaling="min-max",
    ),
    Entry(
        name="puma32h",
        paper_name="Puma-32NH",
        size=Size(8192, 32),
        difference="The paper's results and the publisher call it Puma-32H.",
        publisher=TORGO,
        licence=UNKNOWN_LICENCE,
        citation="Delve, University of Toronto (pumadyn-32 family). " + TORGO_CITATION,
        sources=(Source(read_arff, (files.PUMA32H,)),),
        target="thetadd6",
        target_scaling="min-max",
    ),
    Entry(
        name="servo",
        paper_name="Servo",
        size=Size(167, 4),
        paper_size=Size(197, 4),
        difference="The publisher's table has 167 rows; the paper says 197.",
        publisher=UCI + "87/servo",
        licence=UCI_LICENCE,
        citation="K. Ulrich, 1986. " + UCI_CITATION,
        sources=(text_source(files.SERVO, separator=",", names=columns.SERVO),),
        target="rise_time",
        categories={"motor": tuple("ABCDE"), "screw": tuple("ABCDE")},
        target_scaling="min-max",
    ),
    Entry(
        name="energy_cooling",
        paper_name="Energy Cooling",
        size=Size(768, 8),
        publisher=UCI + "242/energy+efficiency",
        licence=UCI_LICENCE,
        citation=ENERGY_CITATION,
        sources=ENERGY_SOURCES,
        target="Y2",
        left_out={"Y1": "the heating load, the other target"},
        target_scaling="min-max",
    ),
    Entry(
        name="energy_heating",
        paper_name="Energy Heating",
        size=Size(768, 8),
        publisher=UCI + "242/energy+efficiency",
        licence=UCI_LICENCE,
        citation=ENERGY_CITATION,
        sources=ENERGY_SOURCES,
        target="Y1",
        left_out={"Y2": "the cooling load, the other target"},
        target_scaling="min-max",
    ),
    Entry(
        name="yacht",
        paper_name="Yatch",
        size=Size(308, 6),
        paper_size=Size(308, 7),
        difference="The paper counts the target among the inputs.",
        publisher=UCI + "243/yacht+hydrodynamics",
        licence=UCI_LICENCE,
        citation=(
            "J. Gerritsma, R. Onnink, A. Versluis, Geometry, resistance and stability "
            "of the Delft systematic yacht hull series, 1981"
        ),
        sources=(text_source(files.YACHT, names=columns.YACHT),),
        target="residuary_resistance",
        target_scaling="min-max",
    ),
)
